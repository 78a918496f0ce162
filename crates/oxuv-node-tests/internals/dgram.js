// What tests take from Node's own JavaScript about sockets of datagrams.
'use strict';

const dgram = require('dgram');

const socket = dgram.createSocket('udp4');
const kStateSymbol = Object.getOwnPropertySymbols(socket).find((symbol) => symbol.description === 'state symbol');
const UDP = socket[kStateSymbol].handle.constructor;
socket.close();

module.exports = { kStateSymbol, UDP, _createSocketHandle: dgram._createSocketHandle };
