// A directory watcher: what happens in a directory and everything beneath it. Without a directory it takes one of its own, in
// which a few things happen.
//
//     oxuv examples/js/watch_directory.js DIRECTORY
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const { setTimeout: sleep } = require('timers/promises');

// 'rename' means that the name has come or gone, 'change' that something about the file is new. A look tells which.
function describe(event, file) {
  if (event === 'change') return 'has changed';
  return fs.existsSync(file) ? 'is there' : 'is gone';
}

function watch(directory) {
  return fs.watch(directory, { recursive: true }, (event, name) => {
    console.log(`${event.padEnd(6)} ${name} ${describe(event, path.join(directory, name))}`);
  });
}

async function showSome() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'watch-'));
  const watcher = watch(directory);
  const note = path.join(directory, 'note.txt');
  const steps = [
    () => fs.writeFileSync(note, ''),
    () => fs.appendFileSync(note, 'one line\n'),
    () => fs.mkdirSync(path.join(directory, 'old')),
    () => fs.renameSync(note, path.join(directory, 'old', 'note.txt')),
    () => fs.unlinkSync(path.join(directory, 'old', 'note.txt')),
  ];
  for (const step of steps) {
    step();
    await sleep(50);
  }
  watcher.on('close', () => console.log('nobody watches any more'));
  watcher.close();
  fs.rmSync(directory, { recursive: true });
}

const [, , directory] = process.argv;
if (directory === undefined) showSome();
else watch(directory);
