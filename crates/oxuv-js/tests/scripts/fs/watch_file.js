// A file that comes, grows, goes and comes again, looked at again and again.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'watch-file-'));
const file = path.join(folder, 'file');
const steps = [
  () => fs.writeFileSync(file, '12345'),
  () => fs.appendFileSync(file, '678'),
  () => fs.unlinkSync(file),
  () => fs.writeFileSync(file, '9'),
  () => {
    fs.unwatchFile(file);
    fs.rmSync(folder, { recursive: true });
  },
];
const watcher = fs.watchFile(file, { interval: 20 }, (now, before) => {
  // A look may come between the making of a file and the writing.
  if (now.isFile() && now.size === 0) return;
  console.log(now.size, now.isFile(), before.isFile(), now.mtimeMs > 0, now instanceof fs.Stats);
  setTimeout(steps.shift(), 30);
});
watcher.on('stop', () => console.log('stopped'));
console.log(watcher.constructor.name);

const other = fs.watchFile(folder, { bigint: true, interval: 10, persistent: false }, () => {});
console.log(other.ref() === other, other.unref() === other);
fs.unwatchFile(folder, () => {});
console.log(other.listenerCount('change'));
for (const args of [[`${folder}/x`, { interval: -1 }, () => {}], [file], [5, () => {}]]) {
  try {
    fs.watchFile(...args);
  } catch (error) {
    console.log(error.message);
  }
}
