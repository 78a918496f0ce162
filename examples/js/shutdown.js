// A clean shutdown: on SIGTERM the server takes no more connections, those that are open are told and ended, what is planned is
// called off, and the process leaves with the exit code it chose, by itself: nobody calls process.exit().
//
//     oxuv examples/js/shutdown.js &
//     kill %1
'use strict';

const net = require('net');

const open = new Set();
const server = net.createServer((socket) => {
  open.add(socket);
  socket.on('close', () => open.delete(socket));
  socket.write('hello\n');
});
const clock = setInterval(() => console.log('still here'), 60_000);

function shutDown(signal) {
  console.log(`${signal}: ${open.size} connection(s) to end`);
  clearInterval(clock);
  server.close(() => console.log('server closed'));
  for (const socket of open) socket.end('bye\n');
  process.exitCode = 3;
}

// A second signal of the kind has the default effect again, should this one take too long.
process.once('SIGTERM', shutDown);
process.on('exit', (code) => console.log(`exit with ${code}`));

server.listen(0, '127.0.0.1', () => console.log(`listening on port ${server.address().port}`));
