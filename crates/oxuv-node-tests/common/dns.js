// A look-up that fails, for tests of who asks.
'use strict';

const mockedErrorCode = 'ENOTFOUND';
const mockedSysCall = 'getaddrinfo';

function errorLookupMock(code = mockedErrorCode, syscall = mockedSysCall) {
  return (hostname, options, callback) => {
    const error = Object.assign(new Error(`${syscall} ${code} ${hostname}`), { code, errno: code, syscall, hostname });
    process.nextTick(() => callback(error));
  };
}

module.exports = { errorLookupMock, mockedErrorCode, mockedSysCall };
