// An answer that does not fit into a datagram is asked for by a connection; and one that comes piece by piece, behind another's.
'use strict';

const dgram = require('dgram');
const net = require('net');
const { Resolver } = require('dns');

const TEXT = 'x'.repeat(200);

// The answer to a question: so many texts, or none and the mark that it is cut off.
function answerTo(question, count, isCut) {
  const head = Buffer.from(question);
  head[2] = isCut ? 0x83 : 0x81;
  head.writeUInt16BE(count, 6);
  const record = Buffer.concat([Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 9, 0, TEXT.length + 1, TEXT.length]), Buffer.from(TEXT)]);
  return Buffer.concat([head, ...Array(count).fill(record)]);
}

function framed(message) {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

const udp = dgram.createSocket('udp4');
udp.on('message', (question, from) => udp.send(answerTo(question, 0, true), from.port, from.address));

const tcp = net.createServer((socket) => {
  let got = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    got = Buffer.concat([got, chunk]);
    if (got.length < 2 || got.length < 2 + got.readUInt16BE(0)) return;
    const question = got.subarray(2);
    if (question.includes('refused')) {
      socket.destroy();
      return;
    }
    const whole = framed(answerTo(question, 20, false));
    socket.write(whole.subarray(0, 1));
    setTimeout(() => socket.write(whole.subarray(1, 700)), 10);
    setTimeout(() => socket.write(whole.subarray(700)), 20);
  });
});

tcp.listen(0, '127.0.0.1', () => {
  const { port } = tcp.address();
  udp.bind(port, '127.0.0.1', () => {
    const resolver = new Resolver({ timeout: 3000, tries: 1 });
    resolver.setServers([`127.0.0.1:${port}`]);
    resolver.resolveTxt('long.example', (error, records) => {
      console.log(error, records.length, records.every(([text]) => text === TEXT));
      resolver.resolveTxt('refused.example', (error) => {
        console.log(error.syscall, error.hostname);
        udp.close();
        tcp.close(() => console.log('closed'));
      });
    });
  });
});
