// What there is without a connection.
'use strict';
const net = require('net');
console.log(net.isIP('1.2.3.4'), net.isIP('::1'), net.isIP('::1%lo'), net.isIP('01.2.3.4'), net.isIP('1.2.3'), net.isIP(''), net.isIP(), net.isIP('::ffff:1.2.3.4'), net.isIP('fe80::1%'), net.isIPv4('1.1.1.1'), net.isIPv6('1.1.1.1'), net.isIP({ toString: () => '::2' }), net.isIP(' 1.1.1.1'), net.isIP('1.1.1.1\n'), net.isIP('::1/64'), net.isIP('g::'), net.isIP('0x7f.1.1.1'), net.isIP('255.255.255.256'));
console.log(Object.keys(net).filter((k) => !k.startsWith('_') && !/AutoSelect/.test(k)).sort().join());
const c = new net.Socket();
console.log(c.connecting, c.pending, c.destroyed, c.readyState, c.bytesRead, c.bytesWritten, c.timeout, c.bufferSize, c.allowHalfOpen, c.readable, c.writable, c.readableFlowing);
console.log(c.setNoDelay() === c, c.setKeepAlive(true, 1000) === c, c.setTimeout(0) === c, c.ref() === c, c.unref() === c, c.pause() === c, c.resume() === c, c.address());
console.log(typeof net.Socket === 'function', net.Stream === net.Socket, net.Socket() instanceof net.Socket, net.Server() instanceof net.Server);
const s = new net.Server(); console.log(s.listening, s.maxConnections, s.address(), Object.keys(s).filter((k) => !k.startsWith('_')).sort().join());
const list = new net.BlockList(); list.addAddress('1.2.3.4'); list.addRange('10.0.0.1', '10.0.0.9'); list.addSubnet('2001:db8::', 32, 'ipv6');
console.log(list.rules, list.check('1.2.3.4'), list.check('::ffff:1.2.3.4', 'ipv6'), list.check('10.0.0.10'), list.check('2001:db8::5', 'ipv6'), list);
console.log(new net.SocketAddress(), new net.SocketAddress({ family: 'ipv6', port: 5, flowlabel: 9 }).toJSON());
s.unref(); s.listen(0, () => { console.log('listening'); s.ref(); s.close((e) => console.log('cb', e)); s.close((e) => console.log('cb2', e?.code)); });
