// An HTTP server under load, and a callback that holds it up: for Node.js and for oxuv.
'use strict';
const http = require('http');
const fs = require('fs');

let left = 40;
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
const server = http.createServer((request, response) => {
  fs.readFile(__filename, (error, bytes) => response.end(bytes));
});

function ask() {
  http.get({ port: server.address().port, agent }, (response) => {
    response.resume().on('end', () => {
      if (--left > 3) ask();
      else if (left === 0) agent.destroy(), server.close();
    });
  });
}

server.listen(0, '127.0.0.1', () => {
  for (let i = 0; i < 4; i++) ask();
  setTimeout(function report() {
    const end = Date.now() + 25;
    while (Date.now() < end);
  }, 15);
});
