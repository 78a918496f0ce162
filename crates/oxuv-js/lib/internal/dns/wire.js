// The messages of DNS (RFC 1035): a question as bytes, and an answer from them.
//
// They are so few kinds of records that a crate for all of them would not make this shorter: `simple-dns` does not hand out the texts
// of a TXT record one by one, and takes a whole answer for broken where one record of it is; `domain` brings a calendar along; and
// either way each kind of record would have to be turned into the script's object in Rust, which is most of what is here.
'use strict';

const { Buffer } = require('buffer');
const { formatIP } = binding('net');

const TYPES = {
  A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, SRV: 33, NAPTR: 35, ANY: 255, CAA: 257,
};
const names = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));

// Undefined for a name that DNS cannot have.
function nameBytes(name) {
  const parts = [];
  let length = 1;
  for (const label of name.replace(/\.$/, '').split('.')) {
    const bytes = Buffer.from(label);
    if (bytes.length === 0 && name !== '.' && name !== '') return undefined;
    length += bytes.length + 1;
    if (bytes.length > 63 || length > 255) return undefined;
    if (bytes.length > 0) parts.push(Buffer.from([bytes.length]), bytes);
  }
  return Buffer.concat([...parts, Buffer.from([0])]);
}

function question(id, name, type) {
  const encoded = nameBytes(name);
  if (encoded === undefined) return undefined;
  const head = Buffer.alloc(12);
  head.writeUInt16BE(id, 0);
  // Recursion is wanted.
  head.writeUInt16BE(0x0100, 2);
  head.writeUInt16BE(1, 4);
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(TYPES[type], 0);
  tail.writeUInt16BE(1, 2);
  return Buffer.concat([head, encoded, tail]);
}

// Reads from the front; reading beyond the end is a RangeError.
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  u8() {
    return this.bytes.readUInt8(this.at++);
  }

  u16() {
    this.at += 2;
    return this.bytes.readUInt16BE(this.at - 2);
  }

  u32() {
    this.at += 4;
    return this.bytes.readUInt32BE(this.at - 4);
  }

  take(count) {
    if (this.at + count > this.bytes.length) throw new RangeError('an answer that ends too early');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  string() {
    return this.take(this.u8()).toString('latin1');
  }

  // A name may go on anywhere before it. Whoever has it go round in circles gets no further than a name's length.
  name() {
    const labels = [];
    let reader = this;
    for (let room = 255; ;) {
      const length = reader.u8();
      if (length === 0) return labels.join('.');
      if (--room < 0) break;
      if (length >= 0xc0) {
        reader = new Reader(this.bytes, (length & 0x3f) << 8 | reader.u8());
        continue;
      }
      room -= length;
      if (length > 63 || room < 0) break;
      labels.push(reader.take(length).toString('latin1'));
    }
    throw new RangeError('a name that is too long');
  }
}

const READ = {
  A: (reader) => ({ address: formatIP([...reader.take(4)]) }),
  AAAA: (reader) => ({ address: formatIP([...reader.take(16)]) }),
  NS: (reader) => ({ value: reader.name() }),
  CNAME: (reader) => ({ value: reader.name() }),
  PTR: (reader) => ({ value: reader.name() }),
  MX(reader) {
    const priority = reader.u16();
    return { exchange: reader.name(), priority };
  },
  TXT(reader, end) {
    const entries = [];
    while (reader.at < end) entries.push(reader.string());
    return { entries };
  },
  SRV(reader) {
    const [priority, weight, port] = [reader.u16(), reader.u16(), reader.u16()];
    return { name: reader.name(), port, priority, weight };
  },
  SOA(reader) {
    return {
      nsname: reader.name(), hostmaster: reader.name(), serial: reader.u32(), refresh: reader.u32(), retry: reader.u32(),
      expire: reader.u32(), minttl: reader.u32(),
    };
  },
  NAPTR(reader) {
    const [order, preference] = [reader.u16(), reader.u16()];
    return {
      flags: reader.string(), service: reader.string(), regexp: reader.string(), replacement: reader.name(), order, preference,
    };
  },
  CAA(reader, end) {
    const critical = reader.u8();
    const tag = reader.string();
    return { critical, [tag]: reader.take(end - reader.at).toString('latin1') };
  },
};

// What the answer to a question says; it throws for what is none. Records of other kinds are left out.
function answer(bytes) {
  const reader = new Reader(bytes);
  const id = reader.u16();
  const flags = reader.u16();
  const [questions, answers] = [reader.u16(), reader.u16()];
  reader.at += 4;
  const said = { id, isAnswer: (flags & 0x8000) !== 0, code: flags & 15, isCut: (flags & 0x0200) !== 0, asked: undefined, records: [] };
  for (let n = 0; n < questions; n++) {
    said.asked = { name: reader.name(), type: names.get(reader.u16()) };
    reader.at += 2;
  }
  // What is cut off may end anywhere.
  for (let n = 0; n < answers && !said.isCut; n++) {
    reader.name();
    const type = names.get(reader.u16());
    reader.at += 2;
    const ttl = reader.u32();
    const end = reader.u16() + reader.at;
    if (end > bytes.length) throw new RangeError('a record that ends too late');
    if (READ[type] !== undefined) said.records.push({ type, ttl, ...READ[type](reader, end) });
    reader.at = end;
  }
  return said;
}

module.exports = { question, answer };
