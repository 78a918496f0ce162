// The standard streams as streams; the input is empty.
'use strict';

const { Readable, Writable } = require('stream');

console.log(process.stdout instanceof Writable, process.stderr instanceof Writable, process.stdin instanceof Readable);
console.log(process.stdout.fd, process.stderr.fd, process.stdin.fd, process.stdout.writable, process.stdin.readable);
process.stdout.write('text\n');
process.stdout.write(Buffer.from('bytes\n'));
process.stdout.write('68650a', 'hex', () => console.log('after a tick'));
console.log('before it');
process.stdout.end = function end() { throw new Error('not called'); };
Readable.from(['piped\n']).pipe(process.stdout, { end: false });
process.stdin.on('end', () => {
  console.log('end of input');
  delete process.stdout.end;
  // It cannot be destroyed.
  process.stdout.destroy();
  process.stdout.on('close', () => setImmediate(() => process.stdout.write('still there\n')));
});
process.stdin.resume();
