// readline on streams that are no terminal.
'use strict';

const { Readable, PassThrough } = require('stream');
const readline = require('readline');
const promises = require('readline/promises');

async function main() {
  for (const text of ['a\nb\r\nc', 'x\n\n', '', 'é\u2028ü\rz\n']) {
    const lines = [];
    for await (const line of readline.createInterface({ input: Readable.from([Buffer.from(text)]) })) lines.push(line);
    console.log(lines);
  }
  // Pieces that cut a character, and a line's end.
  const input = new PassThrough();
  const output = new PassThrough();
  const reader = readline.createInterface({ input, output, prompt: '? ' });
  reader.on('line', (line) => console.log('line', line)).on('close', () => console.log('close')).on('pause', () => console.log('pause'));
  const bytes = Buffer.from('häl\r');
  input.write(bytes.subarray(0, 2));
  input.write(bytes.subarray(2));
  input.write('\nnext\n');
  await new Promise((resolve) => setImmediate(resolve));
  reader.prompt();
  reader.question('who? ', (name) => {
    console.log('it is', name, reader.getPrompt());
    reader.close();
    try {
      reader.question('again? ', () => {});
    } catch (error) {
      console.log(error.code);
    }
  });
  input.write('me\n');
  await new Promise((resolve) => setImmediate(resolve));
  console.log(JSON.stringify(String(output.read())));

  const asking = promises.createInterface({ input: Readable.from(['first\nsecond\n']), output: new PassThrough() });
  console.log(await asking.question('1? '));
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  await asking.question('2? ', { signal: controller.signal }).catch((error) => console.log(error.name));
  asking.close();

  const screen = new PassThrough();
  readline.cursorTo(screen, 1, 2);
  readline.moveCursor(screen, -1, 3);
  readline.clearLine(screen, 0);
  readline.clearScreenDown(screen);
  console.log(JSON.stringify(String(screen.read())));
}

main();
