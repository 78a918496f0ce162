// Connections for which there is no descriptor are turned away without a word: the server has no listener for errors, and goes on.
'use strict';
const net = require('net');
const { spawn } = require('child_process');

const PEERS = 200;
const sockets = [];
const server = net.createServer((socket) => {
  socket.on('error', () => {});
  sockets.push(socket);
});
server.listen(0, '127.0.0.1', () => {
  const peers = `
    let turned = 0;
    for (let i = 0; i < ${PEERS}; i++) {
      const peer = require('net').connect(${server.address().port}, '127.0.0.1');
      peer.on('error', () => {});
      peer.on('close', () => turned++);
      peer.resume();
    }
    setInterval(() => { if (turned > 100) process.exit(0); }, 10);`;
  // It may have more descriptors than we.
  const child = spawn('sh', ['-c', 'ulimit -Sn 1024; exec "$0" -e "$1"', process.execPath, peers], { stdio: 'inherit' });
  child.on('exit', (code) => {
    console.log('peers', code, 'some were served', sockets.length > 20, 'not all', sockets.length < 64);
    for (const socket of sockets) socket.destroy();
    setImmediate(() => {
      net.connect(server.address().port, '127.0.0.1', () => {
        console.log('a late one is served');
        process.exit(0);
      });
    });
  });
});
