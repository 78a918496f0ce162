// Errors of look-ups, and the names of their kinds.
'use strict';

const { systemError } = binding('util');

const KINDS = ['NODATA', 'FORMERR', 'SERVFAIL', 'NOTFOUND', 'NOTIMP', 'REFUSED', 'BADQUERY', 'BADNAME', 'BADFAMILY', 'BADRESP',
  'CONNREFUSED', 'TIMEOUT', 'EOF', 'FILE', 'NOMEM', 'DESTRUCTION', 'BADSTR', 'BADFLAGS', 'NONAME', 'BADHINTS', 'NOTINITIALIZED',
  'LOADIPHLPAPI', 'ADDRGETNETWORKPARAMS', 'CANCELLED'];
const kinds = Object.fromEntries(KINDS.map((name) => [name, `E${name}`]));
kinds.NOTFOUND = 'ENOTFOUND';

// `what` is the negative number of the system, or a code.
function dnsException(what, syscall, hostname) {
  let errno;
  let code = what;
  if (typeof what === 'number') {
    errno = what;
    [code] = systemError(what) ?? [`${what}`];
    if (code === 'EAI_NONAME' || code === 'EAI_NODATA') code = 'ENOTFOUND';
  }
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new Error(`${syscall} ${code}${hostname ? ` ${hostname}` : ''}`);
  Error.stackTraceLimit = limit;
  Object.assign(error, { errno, code, syscall });
  if (hostname) error.hostname = hostname;
  if (limit > 0) Error.captureStackTrace(error, dnsException);
  return error;
}

module.exports = { dnsException, kinds };
