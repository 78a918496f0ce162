// Text that goes through another program and comes back changed: a child process, piped through.
'use strict';

const { spawn } = require('child_process');
const { Readable } = require('stream');

const sort = spawn('sort', ['-r']);

// What the child writes is read as it comes; its end comes before the last event of the child.
let sorted = '';
sort.stdout.setEncoding('utf8');
sort.stdout.on('data', (text) => { sorted += text; });
sort.stderr.pipe(process.stderr);

sort.on('spawn', () => console.log('the child runs'));
sort.on('error', (error) => console.log(`there is no such program: ${error.code}`));
// Exit is the end of the process, close that of everything that it has written to.
sort.on('exit', (code, signal) => console.log(signal ? `ended by ${signal}` : `it has exited with code ${code}`));
sort.on('close', () => process.stdout.write(`sorted:\n${sorted}`));

// A pipe holds some 200 kilobytes: whoever writes more waits until the child has read. `pipe` sees to that, and to the end.
Readable.from(['pear\n', 'apple\n', 'quince\n', 'cherry\n']).pipe(sort.stdin);
