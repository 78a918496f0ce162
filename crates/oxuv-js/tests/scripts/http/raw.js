// What comes through a connection, byte by byte: pipelined requests, and what could be read in two ways.
'use strict';

const http = require('http');
const net = require('net');

const codes = [];
const server = http.createServer((request, response) => {
  let count = 0;
  request.on('data', (part) => { count += part.length; });
  request.on('end', () => setTimeout(() => response.end(`${request.method} ${request.url} ${count};`), request.url === '/slow' ? 30 : 0));
  request.on('error', () => {});
});
server.on('clientError', (error, socket) => {
  codes.push(error.code);
  socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
});

function send(text, inBytes) {
  return new Promise((resolve) => {
    codes.length = 0;
    const socket = net.connect(server.address().port, '127.0.0.1');
    let got = '';
    socket.on('data', (part) => { got += part.toString('latin1'); });
    socket.on('error', () => {});
    socket.on('close', () => resolve(got));
    if (!inBytes) {
      socket.end(text, 'latin1');
      return;
    }
    let at = 0;
    const next = () => (at < text.length ? socket.write(text[at++], 'latin1', () => setImmediate(next)) : socket.end());
    next();
  });
}

const HOST = 'Host: a\r\n';
const post = (head, body = '') => `POST / HTTP/1.1\r\n${HOST}${head}\r\n${body}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

async function main() {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.httpAllowHalfOpen = true;
  const pipelined = `GET /slow HTTP/1.1\r\n${HOST}\r\n${post('Content-Length: 3\r\n', 'abc')}${post(CHUNKED, '3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n')}` +
    `GET /last HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`;
  for (const inBytes of [false, true]) console.log((await send(pipelined, inBytes)).match(/[A-Z]+ \/\w* \d+;/g));
  for (const [name, text] of Object.entries({
    'a length and chunks': post(`Content-Length: 3\r\n${CHUNKED}`, '0\r\n\r\n'),
    'chunks and a length': post(`${CHUNKED}Content-Length: 3\r\n`, '0\r\n\r\n'),
    'two lengths': post('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'),
    'a length with a sign': post('Content-Length: +3\r\n', 'abc'),
    'another coding last': post('Transfer-Encoding: chunked, gzip\r\n', '0\r\n\r\n'),
    'a size that is none': post(CHUNKED, 'x\r\n\r\n'),
    'a size that is too large': post(CHUNKED, '11111111111111111\r\n\r\n'),
    'no line end behind a chunk': post(CHUNKED, '1\r\nab\r\n'),
    'a space before the colon': post('Content-Length : 3\r\n', 'abc'),
    'a line that goes on': post('A: b\r\n c\r\n'),
    'a line feed alone': post('A: b\nContent-Length: 3\r\n', 'abc'),
    'a return alone': post('A: b\rContent-Length: 3\r\n', 'abc'),
    'a zero': post('A: \0\r\n'),
    'an unknown method': `BREW / HTTP/1.1\r\n${HOST}\r\n`,
    'no request': '\x16\x03\x01\x02\x00\x01',
    'half a head': `GET / HTTP/1.1\r\n${HOST}`,
    'half a body': post('Content-Length: 9\r\n', 'abc'),
    'half a chunk': post(CHUNKED, '9\r\nabc'),
    'a long head': post(`A: ${'a'.repeat(17000)}\r\n`),
  })) {
    const got = await send(text);
    console.log('%s:', name, codes.map((code) => code.replace(/_.*/, '')).join(' '), got.split('\r\n')[0]);
  }
  server.close(() => console.log('closed'));
}

main();
