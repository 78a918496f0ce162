// Names of headers that mean something to objects, in requests and responses: nothing throws, and no prototype is another one.
'use strict';

const http = require('http');
const net = require('net');

const HEADERS = '__proto__: a\r\n__PROTO__: b\r\nconstructor: c\r\nhasOwnProperty: d\r\ntoString: e\r\n';

function tell(message) {
  const { headers, headersDistinct } = message;
  for (const object of [headers, headersDistinct]) {
    console.log(Object.getPrototypeOf(object) === Object.prototype, Object.keys(object).filter((key) => key !== 'host').join());
  }
  console.log(headers.constructor, headers.tostring, Object.getOwnPropertyDescriptor(headersDistinct, '__proto__').value);
}

const server = http.createServer((request, response) => {
  tell(request);
  response.end();
});

const peer = net.createServer((socket) => {
  socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\n${HEADERS}Content-Length: 0\r\n\r\n`));
});

server.listen(0, '127.0.0.1', () => {
  const socket = net.connect(server.address().port, '127.0.0.1');
  socket.end(`GET / HTTP/1.1\r\nHost: a\r\n${HEADERS}\r\n`);
  socket.resume().on('close', () => {
    server.close();
    peer.listen(0, '127.0.0.1', () => {
      http.get({ port: peer.address().port, host: '127.0.0.1' }, (response) => {
        tell(response);
        response.resume();
        peer.close(() => console.log({}.a, {}.push));
      });
    });
  });
});
