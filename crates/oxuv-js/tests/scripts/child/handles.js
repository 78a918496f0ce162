// A server and connections that go to a child.
const { fork } = require('child_process');
const net = require('net');

if (process.argv[2] === 'child') {
  process.on('message', (message, handle) => {
    if (message === 'server') {
      handle.on('connection', (socket) => socket.end('from the server of the child'));
      process.send('ready');
    } else if (message === 'socket') {
      handle.end(`from the child: ${handle instanceof net.Socket}`);
    } else {
      process.disconnect();
    }
  });
  return;
}

const child = fork(__filename, ['child']);
const read = (port) => new Promise((resolve) => {
  let text = '';
  net.connect(port).setEncoding('utf8').on('data', (chunk) => { text += chunk; }).on('close', () => resolve(text));
});

(async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.on('listening', resolve));
  const { port } = server.address();
  child.send('server', server);
  await new Promise((resolve) => child.once('message', resolve));
  server.close();
  console.log(await read(port));
  const own = net.createServer({ pauseOnConnect: true }, (socket) => child.send('socket', socket)).listen(0, '127.0.0.1');
  await new Promise((resolve) => own.on('listening', resolve));
  console.log(await read(own.address().port), await read(own.address().port));
  await new Promise((resolve) => setTimeout(resolve, 200));
  own.getConnections((error, count) => {
    console.log(error, count);
    own.close(() => {
      console.log('closed');
      child.on('exit', (code) => console.log('exit', code));
      child.kill('SIGKILL');
    });
  });
})();
