// What watchers tell of a directory, by events and by an iterator, and of what is wrong.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'watch-'));
const below = path.join(folder, 'below');
fs.mkdirSync(below);
const lines = [];
const watcher = fs.watch(folder, (event, name) => lines.push(`${event} ${name}`));
const raw = fs.watch(below, { encoding: 'buffer' }, (event, name) => lines.push(`below: ${event} ${name.toString('hex')}`));
watcher.on('close', () => console.log('closed'));
fs.watch(folder, { persistent: false });

async function iterate() {
  const controller = new AbortController();
  const seen = [];
  try {
    for await (const { eventType, filename } of fs.promises.watch(folder, { signal: controller.signal })) {
      if (seen.push(`${eventType} ${filename}`) === 4) controller.abort();
    }
  } catch (error) {
    console.log(error.name, error.code, seen.join());
  }
}

setTimeout(() => {
  fs.writeFileSync(path.join(folder, 'a'), '1');
  fs.renameSync(path.join(folder, 'a'), path.join(folder, 'b'));
  fs.unlinkSync(path.join(folder, 'b'));
  // A name that is no UTF-8.
  fs.writeFileSync(Buffer.concat([Buffer.from(`${below}/`), Buffer.from([0xff, 0x61])]), '');
}, 20);
setTimeout(() => {
  watcher.close();
  watcher.close();
  raw.close();
  console.log(lines.join('\n'));
  fs.rmSync(folder, { recursive: true });
}, 400);

for (const args of [['/nope/x'], [folder, { encoding: 'zip' }], [folder, 'utf8', 5]]) {
  try {
    fs.watch(...args);
  } catch (error) {
    console.log(error.message, error.code, error.path, error.filename, error.syscall, error.errno);
  }
}
iterate();
