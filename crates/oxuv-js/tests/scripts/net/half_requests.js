// Peers that send half a request and wait, or end there: the server's time-out ends them, a whole request is answered meanwhile.
'use strict';
const net = require('net');

const seen = [];
const server = net.createServer({ allowHalfOpen: true }, (socket) => {
  let text = '';
  socket.setEncoding('utf8');
  socket.setTimeout(200, () => {
    seen.push('timeout');
    socket.destroy();
  });
  socket.on('data', (chunk) => {
    text += chunk;
    if (text.endsWith('\n')) socket.end(`you said ${text}`);
  });
  socket.on('end', () => {
    if (!text.endsWith('\n')) {
      seen.push('too early');
      socket.destroy();
    }
  });
  socket.on('close', () => seen.push('close'));
}).listen(0, '127.0.0.1', () => {
  const connect = () => net.connect(server.address().port, '127.0.0.1');
  const waits = connect();
  waits.write('half a re');
  waits.on('error', () => {});
  waits.on('close', () => {
    seen.sort();
    console.log(seen.join());
  });
  waits.resume();
  const ends = connect();
  ends.end('half');
  ends.resume();
  const whole = connect();
  whole.write('hel');
  setTimeout(() => whole.end('lo\n'), 20);
  whole.on('data', (data) => console.log(`${data}`.trimEnd()));
  whole.on('close', () => server.close());
});
