// Writable streams: back-pressure, corking, errors, and the order of callbacks and events.
'use strict';

const { Writable } = require('stream');

const slow = new Writable({
  highWaterMark: 3,
  write(chunk, encoding, done) {
    console.log('write', String(chunk));
    setImmediate(done);
  },
  final(done) {
    console.log('final');
    done();
  },
});
for (const name of ['drain', 'finish', 'close']) slow.on(name, () => console.log(name));
console.log(slow.write('a', () => console.log('a is written')), slow.write('bcd', () => console.log('bcd is written')), slow.writableNeedDrain);
slow.end('e', () => console.log('ended'));
slow.write('late', (error) => console.log('late:', error.code));
slow.on('error', (error) => console.log('error', error.code, error.message));
slow.on('close', corked);

function corked() {
  const stream = new Writable({ writev(chunks, done) { console.log(chunks.map(({ chunk }) => String(chunk))); done(); } });
  stream.cork();
  stream.write('1');
  stream.write('2');
  process.nextTick(() => stream.uncork());
  stream.on('finish', errors);
  stream.end();
}

function errors() {
  const stream = new Writable({ write(chunk, encoding, done) { done(new Error('full')); } });
  stream.on('error', (error) => console.log('error', error.message)).on('close', () => console.log('closed', stream.destroyed));
  stream.write('x', (error) => console.log('callback', error.message));
  for (const wrong of [null, 5, {}]) {
    try {
      new Writable().write(wrong);
    } catch (error) {
      console.log(error.code);
    }
  }
  try {
    new Writable().setDefaultEncoding('nothing');
  } catch (error) {
    console.log(error.code, error.message);
  }
}
