// Directories read piece by piece, in all the ways.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'directory-'));
const names = Array.from({ length: 70 }, (_, i) => `file${i}`);
for (const name of names) fs.writeFileSync(path.join(folder, name), '');
const isAll = (found) => found.length === 70 && found.sort().join() === [...names].sort().join();
const said = (promise) => promise.then((value) => value, (error) => error.code);

async function main() {
  const found = [];
  for await (const entry of await fs.promises.opendir(folder, { bufferSize: 7 })) found.push(entry.name);
  console.log(isAll(found));

  const dir = fs.opendirSync(folder, { bufferSize: 1 });
  const read = [];
  for (let entry; (entry = dir.readSync()) !== null;) read.push(entry.name);
  console.log(isAll(read), dir.readSync(), dir.path === folder);
  dir.closeSync();
  console.log(await said(dir.close()), await said((async () => dir.read())()));

  const many = await fs.promises.opendir(folder);
  const reads = names.map(() => many.read());
  for (const call of ['readSync', 'closeSync']) {
    try {
      many[call]();
    } catch (error) {
      console.log(error.code);
    }
  }
  const closed = many.close();
  console.log(isAll((await Promise.all(reads)).map((entry) => entry.name)), await closed);

  for (const leave of ['break', 'throw']) {
    const left = await fs.promises.opendir(folder);
    try {
      for await (const entry of left) {
        if (leave === 'throw') throw entry;
        break;
      }
    } catch { /* It is the entry. */ }
    console.log(leave, await said((async () => left.read())()));
  }

  fs.opendir(folder, (error, opened) => {
    const order = [];
    opened.read((wrong, entry) => order.push(wrong, typeof entry.name));
    opened.close((wrong) => {
      console.log(...order, wrong);
      fs.opendir(`${folder}/nope`, (missing) => {
        console.log(missing.code, missing.syscall);
        fs.rmSync(folder, { recursive: true });
      });
    });
    order.push('later');
  });
}
main();
