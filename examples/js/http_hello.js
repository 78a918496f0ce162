// A server that greets, and a client that asks it: run with a port to have the server alone.
'use strict';

const http = require('http');

const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname !== '/') {
    response.writeHead(404, { 'Content-Type': 'text/plain' });
    response.end('there is nothing here\n');
    return;
  }
  response.setHeader('Content-Type', 'text/plain');
  response.end(`Hello, ${searchParams.get('name') ?? 'World'}!\n`);
});

if (process.argv[2]) {
  server.listen(+process.argv[2], '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/?name=you`));
} else {
  server.listen(0, '127.0.0.1', () => ask(['/', '/?name=Ada', '/elsewhere']));
}

// One connection is enough: it is kept for the next request.
const agent = new http.Agent({ keepAlive: true });

function ask([path, ...others]) {
  if (path === undefined) {
    agent.destroy();
    server.close(() => console.log('closed'));
    return;
  }
  const request = http.get({ port: server.address().port, host: '127.0.0.1', path, agent }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (part) => { text += part; });
    response.on('end', () => {
      console.log(`${path}: ${response.statusCode} ${text.trim()}${request.reusedSocket ? ', on the same connection' : ''}`);
      setImmediate(ask, others);
    });
  });
}
