// The forms of send, and in which order what comes of them is told.
'use strict';

const dgram = require('dgram');

const receiver = dgram.createSocket('udp4');
const came = [];
receiver.bind(0, '127.0.0.1', () => {
  const { port } = receiver.address();
  const sender = dgram.createSocket({ type: 'udp4' });
  const sends = [
    ['text', port, '127.0.0.1'],
    [Buffer.from('0123456789'), 2, 3, port, '127.0.0.1'],
    [['several ', Buffer.from('parts '), new Uint8Array([0x61])], port, '127.0.0.1'],
    ['', port],
    [new DataView(new ArrayBuffer(2)), port],
    [[], port],
  ];
  let told = 0;
  for (const args of sends) {
    sender.send(...args, (error, bytes) => {
      console.log('sent', error, bytes);
      if (++told === sends.length) connected(sender, port);
    });
    console.log('queue', sender.getSendQueueCount(), sender.getSendQueueSize());
  }
});
receiver.on('message', (message, { size, family }) => { came.push(`${JSON.stringify(message.toString())} ${size} ${family}`); });

function connected(sender, port) {
  for (const call of [() => sender.remoteAddress(), () => sender.disconnect()]) {
    try { call(); } catch (error) { console.log(error.code); }
  }
  sender.on('connect', () => console.log('connect event'));
  sender.connect(port, () => {
    console.log('connected', sender.remoteAddress().address, sender.remoteAddress().port === port);
    for (const call of [
      () => sender.connect(port),
      () => sender.send('x', port),
      () => sender.send('x', 0, 1, port),
      () => sender.send(5),
      () => sender.send(['x', 5]),
      () => sender.send('x', 2, 0),
      () => sender.send('xx', 1, 5),
    ]) {
      try { call(); } catch (error) { console.log(error.name, error.code, error.message); }
    }
    sender.send('by connection', (error, bytes) => {
      console.log('sent', error, bytes);
      sender.disconnect();
      setTimeout(() => {
        console.log(came.join('\n'));
        sender.on('close', () => console.log('closed'));
        console.log(sender.close() === sender, receiver.close() === receiver);
        try { sender.send('x', port); } catch (error) { console.log(error.name, error.code, error.message); }
      }, 50);
    });
  });
}
