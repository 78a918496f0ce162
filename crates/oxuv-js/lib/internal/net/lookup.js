// The look-up of names for sockets: that of the module `dns`, where there is one.
'use strict';

const { systemError } = binding('util');
const net = binding('net');

const familyOf = (family) => (family === 'IPv4' ? 4 : family === 'IPv6' ? 6 : family || 0);

function lookup(host, options, callback) {
  if (typeof options === 'function') [options, callback] = [{}, options];
  const family = net.isIP(host);
  if (family) {
    process.nextTick(callback, null, host, family);
    return;
  }
  const status = net.lookup(host, familyOf(options.family), options.hints || 0, (status, found) => {
    if (status) callback(errorOf(status, host));
    else callback(null, found[0], net.isIP(found[0]));
  });
  if (status) process.nextTick(() => callback(errorOf(status, host)));
}

function errorOf(errno, hostname) {
  const [name] = systemError(errno) ?? ['UNKNOWN'];
  const code = name === 'EAI_NONAME' || name === 'EAI_NODATA' ? 'ENOTFOUND' : name;
  return Object.assign(new Error(`getaddrinfo ${code} ${hostname}`), { errno, code, syscall: 'getaddrinfo', hostname });
}

// Looked at each time: a script may have put its own there.
const lookupOf = () => require('dns')?.lookup ?? lookup;

module.exports = { lookupOf };
