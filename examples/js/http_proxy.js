// A proxy that hands on what it gets piece by piece, so that a body of any size takes little memory.
'use strict';

const http = require('http');
const { pipeline } = require('stream');

const SIZE = 32 * 1024 * 1024;
const PART = Buffer.alloc(64 * 1024, 'x');

// Counts what it is sent, and answers with a large body.
const origin = http.createServer((request, response) => {
  let count = 0;
  request.on('data', (part) => { count += part.length; });
  request.on('end', () => {
    response.writeHead(200, { 'Content-Length': SIZE, 'X-Received': count });
    sendParts(response, SIZE);
  });
});

// As fast as they are taken, and no faster.
function sendParts(stream, left) {
  while (left > 0) {
    left -= PART.length;
    if (!stream.write(PART)) {
      stream.once('drain', () => sendParts(stream, left));
      return;
    }
  }
  stream.end();
}

const proxy = http.createServer((request, response) => {
  const { method, url, headers } = request;
  const sent = http.request({ host: '127.0.0.1', port: origin.address().port, method, path: url, headers }, (received) => {
    response.writeHead(received.statusCode, received.headers);
    pipeline(received, response, () => {});
  });
  sent.on('error', () => {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
  pipeline(request, sent, () => {});
});

origin.listen(0, '127.0.0.1', () => proxy.listen(0, '127.0.0.1', () => {
  const options = { host: '127.0.0.1', port: proxy.address().port, method: 'POST', headers: { 'Content-Length': SIZE } };
  const request = http.request(options, (response) => {
    let count = 0;
    response.on('data', (part) => { count += part.length; });
    response.on('end', () => {
      console.log(`sent ${response.headers['x-received']} bytes, got ${count} back`);
      const most = process.memoryUsage().rss / 1024 / 1024;
      console.log(most < 128 ? 'in little memory' : `in ${most} MiB`);
      proxy.close();
      origin.close();
    });
  });
  sendParts(request, SIZE);
}));
