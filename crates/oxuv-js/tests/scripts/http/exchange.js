// Requests and responses of all kinds, one after the other.
'use strict';

const http = require('http');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

const handlers = {
  '/plain': (request, response) => response.end('text'),
  '/parts': (request, response) => {
    response.write('one,');
    response.write(Buffer.from('two,'));
    setImmediate(() => response.end('three'));
  },
  '/echo': (request, response) => request.pipe(response),
  '/empty': (request, response) => {
    response.writeHead(204);
    response.end('not sent');
  },
  '/unchanged': (request, response) => {
    response.statusCode = 304;
    response.end();
  },
  '/headers': (request, response) => {
    response.setHeader('Set-Cookie', ['a=1', 'b=2']);
    response.setHeader('X-Several', ['one', 'two']);
    response.writeHead(200, 'Fine', { 'x-joined': request.headers['x-list'], 'x-cookie': request.headers.cookie });
    response.end(JSON.stringify(request.rawHeaders.filter((text) => /^x-list$/i.test(text))));
  },
  '/trailers': (request, response) => {
    response.writeHead(200, { 'Trailer': 'X-Sum', 'Transfer-Encoding': 'chunked' });
    response.write('body');
    response.addTrailers({ 'X-Sum': '42' });
    response.end();
  },
  '/hints': (request, response) => {
    response.writeProcessing();
    response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    response.end('after hints');
  },
  '/large': (request, response) => response.end('x'.repeat(1 << 20)),
};

const server = http.createServer((request, response) => handlers[request.url](request, response));

function ask(options, body) {
  return new Promise((resolve, reject) => {
    const request = http.request({ port: server.address().port, agent, ...options });
    request.on('error', reject);
    request.on('continue', () => console.log('  continue'));
    request.on('information', ({ statusCode, headers }) => console.log('  information', statusCode, headers.link ?? ''));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => { text += part; });
      response.on('end', () => resolve({ request, response, text }));
    });
    if (Array.isArray(body)) {
      for (const part of body) request.write(part);
      request.end();
    } else {
      request.end(body);
    }
  });
}

const SHOWN = ['content-length', 'transfer-encoding', 'set-cookie', 'x-several', 'x-joined', 'x-cookie', 'connection', 'keep-alive'];

async function main() {
  await new Promise((resolve) => server.listen(0, resolve));
  for (const [options, body] of [
    [{ path: '/plain' }],
    [{ path: '/parts' }],
    [{ path: '/echo', method: 'POST' }, 'in one'],
    [{ path: '/echo', method: 'POST' }, ['in ', 'several ', 'parts']],
    [{ path: '/echo', method: 'PUT', headers: { 'Content-Length': 4 } }, ['fo', 'ur']],
    [{ path: '/echo', method: 'POST', headers: { Expect: '100-continue' } }, 'asked for'],
    [{ path: '/empty' }],
    [{ path: '/unchanged' }],
    [{ path: '/headers', headers: { 'X-List': ['a', 'b'], 'Cookie': ['c=1', 'd=2'] } }],
    [{ path: '/trailers' }],
    [{ path: '/hints' }],
    [{ path: '/large' }],
    [{ path: '/plain', method: 'HEAD' }],
  ]) {
    const { request, response, text } = await ask(options, body);
    const { statusCode, statusMessage, headers, trailers } = response;
    console.log(options.method ?? 'GET', options.path, statusCode, statusMessage, request.reusedSocket ? 'reused' : 'new');
    for (const name of SHOWN) if (headers[name] !== undefined) console.log('  %s:', name, headers[name]);
    if (Object.keys(trailers).length > 0) console.log('  trailers', trailers);
    console.log('  %s', text.length > 100 ? `${text.length} characters` : text);
  }
  agent.destroy();
  server.close(() => console.log('closed'));
}

main();
