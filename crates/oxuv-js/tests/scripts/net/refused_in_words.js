// What goes wrong in words, codes and numbers.
'use strict';
const net = require('net');
const show = (error) => { const { name, message, code, errno, syscall, address, port } = error; console.log(name, message.replace(/\d{4,5}/g, 'PORT'), code, errno, syscall, address, port > 1000 ? 'PORT' : port, Object.keys(error).join()); };
const steps = [];
const step = (name, run) => steps.push([name, run]);
const next = () => { const s = steps.shift(); if (s) { console.log('--', s[0]); s[1](next); } };
step('in use', (next) => {
  const one = net.createServer().listen(0, () => {
    const two = net.createServer();
    two.on('error', (e) => { show(e); console.log(two.listening, two.address()); one.close(next); });
    two.listen(one.address().port, () => console.log('no'));
    try { one.listen(0); } catch (e) { show(e); }
  });
});
step('refused', (next) => { const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => { net.connect(port, '127.0.0.1').on('error', show).on('close', (bad) => { console.log('close', bad); next(); }); }); }); });
step('pipe without', (next) => { net.connect('/there/is/nothing').on('error', show).on('close', (bad) => { console.log('close', bad); next(); }); });
step('pipe bind', (next) => { net.createServer().on('error', (e) => { show(e); next(); }).listen('/nowhere/at/all'); });
step('not an address', (next) => { net.createServer().on('error', (e) => { show(e); next(); }).listen({ port: 0, host: '192.0.2.1' }); });
step('throws', (next) => {
  for (const f of [
    () => net.connect({ port: 70000 }), () => net.connect({ port: -1 }), () => net.connect({ port: 'x' }), () => net.connect({ port: [] }), () => net.connect(),
    () => net.createServer().listen({}), () => net.createServer().listen({ port: -1 }), () => net.createServer().listen({ port: 65536 }), () => net.createServer().listen({ fd: -1 }),
    () => net.createServer().listen(true), () => net.createServer().listen(1.5), () => net.createServer(5), () => new net.Socket({ fd: -1 }), () => new net.Socket({ objectMode: true }),
    () => net.connect({ port: 1, localAddress: 'x' }), () => net.connect({ port: 1, localPort: 'x' }), () => net.connect({ port: 1, lookup: 1, host: 'a.b' }), () => new net.Socket().setTimeout('x'), () => new net.Socket().setTimeout(-1), () => new net.Socket().setTimeout(1, 1),
    () => net.createServer().listen({ port: 0, signal: 5 }), () => net.createServer().listen({ path: 5 }), () => net.createServer().listen(NaN), () => net.createServer().listen('') ,
  ]) { try { const r = f(); console.log('fine', typeof r); r?.on?.('error', () => {}); r?.destroy?.(); r?.close?.(); } catch (e) { console.log(e.name, e.code, e.code === 'ERR_SOCKET_BAD_PORT' ? '' : e.message.replace(/\d{4,5}/g, 'N')); } }
  next();
});
step('write when closed', (next) => {
  const s = net.createServer((c) => c.on('error', () => {})).listen(0, () => {
    const c = net.connect(s.address().port, '127.0.0.1', () => {
      c.destroy(); console.log('destroyed', c.destroyed, c.readyState, c.remoteAddress, c.localPort, c.address());
      console.log(c.write('x', (e) => { show(e); s.close(next); }));
      c.on('error', show);
    });
  });
});
step('write before connect and destroy', (next) => {
  const c = new net.Socket(); c.on('error', show).on('close', (b) => { console.log('close', b); next(); });
  c.write('x', (e) => show(e)); console.log(c.pending, c.connecting, c.readyState, c.bytesWritten);
});
step('destroy with error', (next) => {
  const c = net.connect(1, '127.0.0.1'); c.on('error', (e) => console.log('error', e.message)).on('close', (b) => { console.log('close', b); next(); });
  c.destroy(new Error('mine')); console.log(c.destroyed, c.connecting);
});
step('close twice', (next) => { const s = net.createServer(); s.close((e) => show(e)); s.on('close', () => console.log('closed')); s.listen(0, () => { console.log('listening'); s.close((e) => { console.log(e); next(); }); }); });
step('getConnections', (next) => { const s = net.createServer(); s.getConnections((e, n) => { console.log(e, n); next(); }); console.log('sync'); });
next();
