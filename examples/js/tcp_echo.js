// A TCP server that sends back what it gets, as fast as the other end reads it and no faster.
//
//     oxuv examples/js/tcp_echo.js          speaks with itself for a while
//     oxuv examples/js/tcp_echo.js 7000     serves at this port, until Ctrl+C
'use strict';

const net = require('net');

const server = net.createServer((socket) => {
  console.log('the server has a connection');
  // Where the other end does not read, `write` says false: then nothing more is read from it, until what waits is sent.
  socket.on('data', (data) => {
    if (!socket.write(data)) socket.pause();
  });
  socket.on('drain', () => socket.resume());
  socket.on('error', (error) => console.log(`the server lost a connection: ${error.code}`));
  socket.on('close', () => console.log('the server has closed it'));
});

server.on('error', (error) => {
  console.error(`it cannot serve: ${error.message}`);
  process.exitCode = 1;
});

const [port] = process.argv.slice(2);
server.listen(port ?? 0, '127.0.0.1', () => {
  if (port === undefined) speak(server.address().port);
  else console.log(`serving at port ${port}`);
});

function speak(port) {
  const client = net.connect(port, '127.0.0.1', () => {
    client.write('hello');
    // More than fits into the kernel's buffers on the way.
    client.end(Buffer.alloc(10_000_000, '.'));
  });
  let bytes = 0;
  client.on('data', (data) => {
    bytes += data.length;
    // A slow reader.
    client.pause();
    setTimeout(() => client.resume(), 1);
  });
  client.on('end', () => console.log(`the client has got ${bytes} bytes back`));
  client.on('close', () => server.close());
}
