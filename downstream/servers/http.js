// An HTTP server with a short answer. Prints its port, the library it has, and ends on SIGTERM.
'use strict';
const server = require('http').createServer((request, response) => {
  response.setHeader('content-type', 'text/plain');
  response.end('hello, world\n');
});
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('SIGTERM', () => process.exit(0));
