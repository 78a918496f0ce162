// What a server makes of requests at the edge of HTTP, and what it answers to those that came before them.
'use strict';

const http = require('http');
const net = require('net');

const HOST = 'Host: a\r\n';
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
const server = http.createServer((request, response) => {
  console.log('  request', request.url);
  if (request.url === '/twice') {
    response.writeHead(200, { a: 1 });
    response.writeHead(201, { 'Content-Length': 1 });
    response.end('x');
    return;
  }
  if (request.url === '/set') {
    response.setHeader('a', 1);
    response.writeHead(200);
    try { response.writeHead(201); } catch (error) { console.log('  %s: %s', error.code, error.message); }
  }
  request.on('error', () => {});
  request.resume().on('end', () => setTimeout(() => response.end(`<${request.url}>`), 10));
});
server.on('clientError', (error, socket) => {
  console.log('  %s: %s', error.code, error.message, error.bytesParsed, error.rawPacket?.length);
  socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
});

function send(parts) {
  return new Promise((resolve) => {
    const socket = net.connect(server.address().port, '127.0.0.1');
    let got = '';
    socket.on('data', (part) => { got += part; });
    socket.on('error', () => {});
    socket.on('close', () => resolve(got));
    const next = () => {
      if (parts.length === 0) return;
      const part = parts.shift();
      if (part === null) socket.end();
      else socket.write(part);
      setTimeout(next, 30);
    };
    next();
  });
}

const get = (url, more = '') => `GET ${url} HTTP/1.1\r\n${HOST}${more}\r\n`;
const last = get('/last', 'Connection: close\r\n');

async function main() {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  for (const [name, parts] of Object.entries({
    'a target without a slash': [get('y')],
    'a whole URL': [get('http://a/b', 'Connection: close\r\n')],
    'a space behind a size': [`POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n`],
    'a coding behind the chunks': [`POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    'half a head': ['GET / HT', null],
    'more than was said': [`${get('/1')}${last}${get('/never')}`],
    'a protocol that nobody speaks': [get('/1', UPGRADE) + get('/never'), last],
    'two heads': [get('/twice', 'Connection: close\r\n')],
    'two heads after a header': [get('/set', 'Connection: close\r\n')],
  })) {
    console.log(name);
    console.log(' ', (await send(parts)).match(/^HTTP.*|<.*?>|(?:a|Transfer-Encoding|Content-Length): .*|x$/gm).join(' ').replaceAll('\r', ''));
  }
  server.close();
}

main();
