// A look-up that fails, and the messages of DNS, for tests of who asks.
'use strict';

const mockedErrorCode = 'ENOTFOUND';
const mockedSysCall = 'getaddrinfo';

function errorLookupMock(code = mockedErrorCode, syscall = mockedSysCall) {
  return (hostname, options, callback) => {
    const error = Object.assign(new Error(`${syscall} ${code} ${hostname}`), { code, errno: code, syscall, hostname });
    process.nextTick(() => callback(error));
  };
}

const types = { A: 1, AAAA: 28, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, ANY: 255, CAA: 257 };
const classes = { IN: 1 };

const u8 = (number) => Buffer.from([number & 0xff]);
const u16 = (number) => Buffer.from([number >> 8 & 0xff, number & 0xff]);
const u32 = (number) => Buffer.concat([u16(number >>> 16), u16(number & 0xffff)]);
const string = (text) => Buffer.concat([u8(Buffer.byteLength(text)), Buffer.from(text)]);
const name = (text) => Buffer.concat([...(text === '' ? [] : text.split('.').map(string)), u8(0)]);

function ip6(text) {
  const [head, tail = ''] = text.split('::');
  const groups = (part) => part.split(':').filter((group) => group !== '').map((group) => parseInt(group, 16));
  const [first, last] = [groups(head), groups(tail)];
  return Buffer.concat([...first, ...new Array(8 - first.length - last.length).fill(0), ...last].map(u16));
}

const DATA = {
  A: ({ address }) => Buffer.from(address.split('.').map(Number)),
  AAAA: ({ address }) => ip6(address),
  TXT: ({ entries }) => Buffer.concat(entries.map(string)),
  MX: ({ priority, exchange }) => Buffer.concat([u16(priority), name(exchange)]),
  NS: ({ exchange, value }) => name(exchange || value),
  CNAME: ({ exchange, value }) => name(exchange || value),
  PTR: ({ exchange, value }) => name(exchange || value),
  SOA: ({ nsname, hostmaster, serial, refresh, retry, expire, minttl }) =>
    Buffer.concat([name(nsname), name(hostmaster), ...[serial, refresh, retry, expire, minttl].map(u32)]),
  CAA: ({ critical, issue }) => Buffer.concat([u8(critical), string('issue'), Buffer.from(issue)]),
};

// The bytes of an answer.
function writeDNSPacket({ id = 0, flags = 0x8180, questions = [], answers = [], authorityAnswers = [], additionalRecords = [] }) {
  const parts = [u16(id), u16(flags), ...[questions, answers, authorityAnswers, additionalRecords].map((list) => u16([list].flat().length))];
  for (const { domain, type, cls = 1 } of questions) parts.push(name(domain), u16(types[type]), u16(cls));
  for (const record of [answers, authorityAnswers, additionalRecords].flat()) {
    const data = DATA[record.type](record);
    parts.push(name(record.domain), u16(types[record.type]), u16(record.cls || 1), u32(record.ttl ?? 0), u16(data.length), data);
  }
  return Buffer.concat(parts);
}

// What a question asks.
function parseDNSPacket(bytes) {
  const parsed = { id: bytes.readUInt16BE(0), flags: bytes.readUInt16BE(2), questions: [] };
  let at = 12;
  for (let n = bytes.readUInt16BE(4); n > 0; n--) {
    const labels = [];
    while (bytes[at] !== 0) {
      labels.push(bytes.toString('latin1', at + 1, at + 1 + bytes[at]));
      at += bytes[at] + 1;
    }
    const number = bytes.readUInt16BE(at + 1);
    parsed.questions.push({
      domain: labels.join('.'), type: Object.keys(types).find((type) => types[type] === number), cls: bytes.readUInt16BE(at + 3),
    });
    at += 5;
  }
  return parsed;
}

module.exports = { errorLookupMock, mockedErrorCode, mockedSysCall, types, classes, writeDNSPacket, parseDNSPacket };
