// Whole folders are copied, with links and times; what makes no sense is refused.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

process.chdir(fs.mkdtempSync(path.join(os.tmpdir(), 'copy-')));
const here = process.cwd();
fs.mkdirSync('from/deep/er', { recursive: true });
fs.writeFileSync('from/a', 'one', { mode: 0o640 });
fs.writeFileSync('from/deep/b', 'two');
fs.utimesSync('from/a', 1000, 2000);
fs.symlinkSync('../a', 'from/deep/link');
const shown = (error) => error && `${error.code} ${error.message.replaceAll(here, '.')}`;

function attempt(...args) {
  try {
    fs.cpSync(...args);
    console.log('copied');
  } catch (error) {
    console.log(shown(error), error.syscall);
  }
}

attempt('from', 'to');
attempt('from', 'to', { recursive: true, preserveTimestamps: true });
const { mode, mtimeMs } = fs.statSync('to/a');
console.log((mode & 0o777).toString(8), mtimeMs, fs.readlinkSync('to/deep/link').replace(here, '.'), fs.readdirSync('to/deep').sort().join());
attempt('from', 'to2', { recursive: true, verbatimSymlinks: true, filter: (name) => !name.endsWith('er') });
console.log(fs.readlinkSync('to2/deep/link'), fs.existsSync('to2/deep/er'));
attempt('from', 'to3', { recursive: true, dereference: true });
console.log(fs.lstatSync('to3/deep/link').isFile());
fs.writeFileSync('to/a', 'changed');
attempt('from/a', 'to/a', { force: false });
console.log(fs.readFileSync('to/a', 'utf8'));
attempt('from/a', 'to/a', { force: false, errorOnExist: true });
attempt('from/a', 'to/a');
console.log(fs.readFileSync('to/a', 'utf8'));
attempt('from/a', 'from/a');
attempt('from', 'from/deep/in', { recursive: true });
attempt('from', 'to/a', { recursive: true });
attempt('from/a', 'to/deep');
attempt('nope', 'to');
attempt('from', 'to', { dereference: true, verbatimSymlinks: true });
attempt('from', 'to', { filter: 1 });
attempt('from', 'to', 1);

fs.cp('from', 'to4', { recursive: true, filter: async (name) => name !== 'from/a' }, (error) => {
  console.log(error, fs.readdirSync('to4').join());
  fs.promises.cp('from', 'to4').catch((wrong) => {
    console.log(shown(wrong));
    process.chdir('/');
    fs.rmSync(here, { recursive: true });
  });
});
