// Options, groups, and errors of both.
'use strict';

const dgram = require('dgram');

const show = (what, call) => {
  try {
    console.log(what, call());
  } catch (error) {
    console.log(what, error.name, error.code, error.syscall, error.message);
  }
};

const fresh = dgram.createSocket('udp4');
show('type', () => dgram.createSocket('udp5'));
show('lookup', () => dgram.createSocket({ type: 'udp4', lookup: 5 }));
show('signal', () => dgram.createSocket({ type: 'udp4', signal: 5 }));
show('size', () => fresh.getRecvBufferSize());
show('address', () => fresh.address());
show('broadcast', () => fresh.setBroadcast(true));
show('port', () => { try { fresh.connect(0); } catch ({ code }) { return code; } });
show('ttl', () => fresh.setTTL('5'));
fresh.close();
show('closed', () => fresh.setMulticastInterface('0.0.0.0'));

const socket = dgram.createSocket({ type: 'udp4', reuseAddr: true, recvBufferSize: 10000, sendBufferSize: 12000 });
socket.bind({ address: '127.0.0.1', port: 0, exclusive: true }, function() {
  show('this', () => this === socket);
  show('sizes', () => [socket.getRecvBufferSize(), socket.getSendBufferSize()]);
  show('again', () => socket.bind(0));
  show('ttl', () => [socket.setTTL(16), socket.setMulticastTTL(0), socket.setMulticastLoopback(8)]);
  show('ttl 0', () => socket.setTTL(0));
  show('ttl 256', () => socket.setMulticastTTL(256));
  show('join', () => socket.addMembership('224.0.0.114', '127.0.0.1'));
  show('join again', () => socket.addMembership('224.0.0.114', '127.0.0.1'));
  show('leave', () => socket.dropMembership('224.0.0.114', '127.0.0.1'));
  show('leave again', () => socket.dropMembership('224.0.0.114', '127.0.0.1'));
  show('no group', () => socket.addMembership('127.0.0.1'));
  show('nothing', () => socket.addMembership());
  show('source', () => socket.addSourceSpecificMembership('127.0.0.1', '232.1.1.1', '127.0.0.1'));
  show('source away', () => socket.dropSourceSpecificMembership('127.0.0.1', '232.1.1.1', '127.0.0.1'));
  show('interface', () => socket.setMulticastInterface('127.0.0.1'));
  show('ref', () => socket.ref() === socket && socket.unref() === socket);
  group();
});

// A datagram to a group by the loopback.
function group() {
  const member = dgram.createSocket({ type: 'udp4', reuseAddr: true });
  member.bind(0, () => {
    member.addMembership('224.0.0.115', '127.0.0.1');
    member.setMulticastInterface('127.0.0.1');
    member.setMulticastLoopback(true);
    member.on('message', (message) => {
      console.log('group', `${message}`);
      member.close();
      taken();
    });
    member.send('to all', member.address().port, '224.0.0.115');
  });
}

function taken() {
  const second = dgram.createSocket('udp4');
  second.on('error', ({ name, code, syscall, address }) => {
    console.log('taken', name, code, syscall, address);
    second.close();
    socket.close();
    aborted();
  });
  second.bind(socket.address().port, '127.0.0.1');
}

function aborted() {
  const controller = new AbortController();
  dgram.createSocket({ type: 'udp4', signal: controller.signal }).bind(0).on('close', () => console.log('aborted'));
  controller.abort();
  dgram.createSocket({ type: 'udp4', lookup: (host, family, callback) => callback(new Error(`no ${host} ${family}`)) })
    .on('error', (error) => console.log('lookup', error.message)).bind(0, 'nowhere');
}
