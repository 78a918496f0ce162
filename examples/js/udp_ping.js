// Datagrams there and back: a server that answers, a client that counts, and one datagram that nobody answers.
//
//     oxuv examples/js/udp_ping.js
'use strict';

const dgram = require('node:dgram');

const COUNT = 3;

const server = dgram.createSocket('udp4');
server.on('message', (message, { address, port }) => {
  // Whoever does not say what it wants gets no answer: datagrams may be lost at any time.
  if (message.toString().startsWith('ping')) server.send(`pong${message.subarray(4)}`, port, address);
});

server.bind(0, '127.0.0.1', () => {
  const client = dgram.createSocket('udp4');
  let answered = 0;
  client.connect(server.address().port, '127.0.0.1', () => {
    for (let number = 1; number <= COUNT; number++) client.send(`ping ${number}`);
    client.send('who is there?');
  });
  client.on('message', (message, { size }) => {
    console.log(`${message}: ${size} bytes`);
    if (++answered < COUNT) return;
    // Nothing tells that no more will come. So one waits, for a while.
    setTimeout(() => {
      console.log(`${answered} of ${COUNT + 1} datagrams were answered`);
      client.close();
      server.close(() => console.log('the end'));
    }, 50);
  });
});
