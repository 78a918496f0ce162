'use strict';
const assert = require('assert');
const { Worker, isMainThread, parentPort, workerData, MessageChannel } = require('worker_threads');

if (!isMainThread) {
  const fs = require('fs');
  const net = require('net');
  const act = {
    echo: () => parentPort.on('message', (message) => (message === 'end' ? parentPort.close() : parentPort.postMessage(message))),
    exit: () => setTimeout(() => process.exit(5), 5),
    spin: () => { for (;;); },
    wait: () => setInterval(() => fs.readFileSync(__filename), 1),
    throws: () => setImmediate(() => { throw new TypeError('on purpose'); }),
    add: () => {
      const cells = new Int32Array(workerData.cells);
      for (let i = 0; i < 10000; i++) Atomics.add(cells, 0, 1);
      Atomics.notify(cells, 0);
    },
    serve: () => {
      const server = net.createServer((socket) => socket.end('from a thread')).listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
      parentPort.once('message', () => server.close(() => parentPort.close()));
    },
    port: () => {
      const { port } = workerData;
      port.on('message', (buffer) => port.postMessage(new Uint8Array(buffer).reduce((a, b) => a + b), []));
      port.once('close', () => {});
    },
  };
  act[workerData.act]();
  return;
}

const { check, rounds, once, collect } = require('./harness');
const start = (act, more = {}, extra = {}) => new Worker(__filename, { workerData: { act, ...more }, ...extra });

check('messages to eight threads and back', async () => {
  await Promise.all(Array.from({ length: 8 }, async () => {
    const worker = start('echo');
    for (let i = 0; i < rounds(200, 3000); i++) {
      worker.postMessage({ i });
      assert.deepStrictEqual(await once(worker, 'message'), { i });
    }
    worker.postMessage('end');
    assert.strictEqual(await once(worker, 'exit'), 0);
  }));
});

check('threads that exit, throw, or are ended while they spin or wait', async () => {
  for (let i = 0; i < rounds(2, 10); i++) {
    assert.strictEqual(await once(start('exit'), 'exit'), 5);
    assert.strictEqual((await once(start('throws'), 'error')).message, 'on purpose');
    for (const act of ['spin', 'wait', 'serve']) {
      const worker = start(act);
      await once(worker, 'online');
      assert.strictEqual(await worker.terminate(), 1);
    }
  }
});

check('memory that is shared', async () => {
  const cells = new SharedArrayBuffer(4);
  await Promise.all(Array.from({ length: 4 }, () => once(start('add', { cells }), 'exit')));
  assert.strictEqual(new Int32Array(cells)[0], 40000);
});

check('a server in a thread', async () => {
  const worker = start('serve');
  const port = await once(worker, 'message');
  for (let i = 0; i < 20; i++) {
    assert.strictEqual(String(await collect(require('net').connect(port, '127.0.0.1'))), 'from a thread');
  }
  worker.postMessage('end');
  assert.strictEqual(await once(worker, 'exit'), 0);
});

check('a channel that is handed over, and memory that moves', async () => {
  const { port1, port2 } = new MessageChannel();
  const worker = start('port', { port: port2 }, { transferList: [port2] });
  for (let i = 1; i < 50; i++) {
    const buffer = new Uint8Array(i).fill(2).buffer;
    const back = once(port1, 'message');
    port1.postMessage(buffer, [buffer]);
    assert.strictEqual(buffer.byteLength, 0);
    assert.strictEqual(await back, 2 * i);
  }
  port1.close();
  assert.strictEqual(await once(worker, 'exit'), 0);
});

check('output of a thread', async () => {
  const worker = new Worker('for (let i = 0; i < 1000; i++) console.log(i)', { eval: true, stdout: true });
  const said = String(await collect(worker.stdout));
  assert.strictEqual(said, Array.from({ length: 1000 }, (_, i) => `${i}\n`).join(''));
});
