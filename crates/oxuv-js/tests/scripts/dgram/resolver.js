// What a server of names is asked, and what is made of its answers, good and bad.
'use strict';

const dgram = require('dgram');
const { Resolver } = require('dns').promises;

const u16 = (number) => [number >> 8 & 255, number & 255];
const name = (text) => [...text.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]), 0];
// A record: its name is that of the question.
const record = (type, data) => [0xc0, 12, ...u16(type), 0, 1, 0, 0, 0, 60, ...u16(data.length), ...data];
const head = (question, count, code = 0) => [question[0], question[1], 0x81, 0x80 | code, 0, 1, ...u16(count), 0, 0, 0, 0];

// What is answered, by the first label of the name: the bytes behind the question.
const answers = {
  good: (question) => [head(question, 2), record(1, [1, 2, 3, 4]), record(1, [5, 6, 7, 8])],
  mail: (question) => [head(question, 1), record(15, [0, 10, 4, ...Buffer.from('mail'), 0xc0, 17])],
  text: (question) => [head(question, 1), record(16, [2, 0x61, 0x62, 1, 0x63])],
  service: (question) => [head(question, 1), record(33, [0, 1, 0, 2, 0x1f, 0x90, ...name('here.test')])],
  back: (question) => [head(question, 1), record(12, name('host.test'))],
  other: (question) => [head(question, 1), record(5, name('elsewhere.test'))],
  none: (question) => [head(question, 0, 3)],
  refused: (question) => [head(question, 0, 5)],
  failed: (question) => [head(question, 0, 2)],
  cut: (question) => [head(question, 1), record(1, [1, 2, 3, 4]).slice(0, -2)],
  few: (question) => [head(question, 9), record(1, [1, 2, 3, 4])],
  // A name that leads to itself.
  round: (question) => [head(question, 1), record(5, [0xc0, 12 + question.length - 12 + 12])],
  silent: () => undefined,
};

const server = dgram.createSocket('udp4');
server.on('message', (question, { address, port }) => {
  // What is asked beside it is nothing to this server.
  question = question.subarray(0, question.indexOf(0, 12) + 5);
  const label = question.toString('latin1', 13, 13 + question[12]);
  const said = (answers[label] ?? answers.back)(question);
  if (said === undefined) return;
  const [first, ...rest] = said;
  // Somebody else's answer comes first.
  server.send(Buffer.from([question[0] ^ 1, ...question.subarray(1), ...record(1, [6, 6, 6, 6])]), port, address);
  server.send(Buffer.from([...first, ...question.subarray(12), ...rest.flat()]), port, address);
});

server.bind(0, '127.0.0.1', async () => {
  const resolver = new Resolver({ timeout: 200, tries: 1 });
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
  const ask = async (method, ...args) => {
    try {
      console.log(method, args, await resolver[method](...args));
    } catch ({ code, syscall, hostname, message }) {
      console.log(method, code, syscall, hostname, message);
    }
  };
  await ask('resolve4', 'good.test');
  await ask('resolve4', 'good.test', { ttl: true });
  await ask('resolve', 'mail.test', 'MX');
  await ask('resolveTxt', 'text.test');
  await ask('resolveSrv', 'service.test');
  await ask('reverse', '192.0.2.7');
  await ask('resolve4', 'other.test');
  await ask('resolveCname', 'other.test');
  for (const bad of ['none', 'refused', 'failed', 'cut', 'few', 'round', 'silent']) await ask('resolve4', `${bad}.test`);
  await ask('resolve4', `${'a'.repeat(64)}.test`);
  resolver.setServers(['127.0.0.1:1']);
  await ask('resolve4', 'good.test');
  const cancelled = ask('resolve4', 'good.test');
  resolver.cancel();
  await cancelled;
  server.close();
});
