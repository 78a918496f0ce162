// The events of file streams of every kind, each stream's in their order.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'streams-'));
const file = path.join(folder, 'file');
fs.writeFileSync(file, '0123456789'.repeat(20000));
const other = path.join(folder, 'other');
fs.writeFileSync(other, '0123456789');

const told = new Map();
const tell = (name, ...what) => told.set(name, [...(told.get(name) ?? []), what.join(' ')]);
const EVENTS = ['open', 'ready', 'end', 'finish', 'close', 'error', 'pause', 'resume', 'drain', 'pipe', 'unpipe'];
function follow(name, stream) {
  for (const event of EVENTS) stream.on(event, (value) => tell(name, event, event === 'error' ? value.code ?? value.message : ''));
  return stream;
}

const range = follow('a range', fs.createReadStream(file, { start: 5, end: 12, encoding: 'utf8' }));
range.on('data', (data) => tell('a range', data));
const missing = follow('no file', fs.createReadStream(path.join(folder, 'nope')));
follow('destroyed', fs.createReadStream(file)).destroy();
follow('destroyed with an error', fs.createReadStream(file)).destroy(new Error('wrong'));
follow('closed', fs.createReadStream(file)).close(() => tell('closed', 'callback'));

const open = follow('left open', fs.createReadStream(file, { autoClose: false, end: 3 })).resume();
open.on('end', () => {
  tell('left open', typeof open.fd);
  open.close();
});

const written = follow('written', fs.createWriteStream(path.join(folder, 'written')));
written.write('abc', () => tell('written', 'first callback'));
written.end('def', () => tell('written', 'last callback'));
follow('in no folder', fs.createWriteStream(path.join(folder, 'x/y'))).write('abc', (error) => tell('in no folder', `callback ${error.code}`));
const closed = follow('written and closed', fs.createWriteStream(path.join(folder, 'closed')));
closed.write('abc');
closed.close(() => tell('written and closed', 'callback'));
const amid = follow('from a place on', fs.createWriteStream(other, { flags: 'r+', start: 3 }));
amid.end('XYZ');
const full = follow('more than it takes', fs.createWriteStream(path.join(folder, 'full'), { highWaterMark: 10 }));
for (let i = 0; i < 5; i++) tell('more than it takes', full.write('1234'));
full.end();

const controller = new AbortController();
follow('aborted', fs.createReadStream(file, { signal: controller.signal })).on('data', () => controller.abort());
follow('silent', fs.createReadStream(file, { emitClose: false, end: 1 })).resume();
follow('of a number', fs.createReadStream(null, { fd: fs.openSync(file), start: 0, end: 1 })).resume();
fs.promises.open(file).then((handle) => {
  follow('of a handle', handle.createReadStream({ end: 1 })).resume();
  handle.on('close', () => tell('of a handle', 'close of the handle'));
});

process.on('exit', () => {
  for (const name of [...told.keys()].sort()) console.log(`${name}: ${told.get(name).join(', ')}`);
  console.log(range.bytesRead, range.flags, range.mode, range.pending, missing.pending, amid.pos);
  console.log(written.bytesWritten, written.path === path.join(folder, 'written'), fs.readFileSync(other, 'latin1'));
  fs.rmSync(folder, { recursive: true });
});
