// Readable streams: the events in their order, iterators and their helpers, and all of a stream at once.
'use strict';

const { Readable } = require('stream');
const consumers = require('stream/consumers');

const log = (...what) => console.log(...what);

function events() {
  const stream = new Readable({ read() {}, highWaterMark: 4 });
  for (const name of ['readable', 'end', 'close', 'pause', 'resume']) stream.on(name, () => log(name, stream.readableFlowing));
  log('push', stream.push('abc'), stream.push('de'), stream.readableLength);
  stream.on('readable', () => { for (let chunk; (chunk = stream.read()) !== null;) log('chunk', String(chunk)); });
  setImmediate(() => {
    stream.push('f');
    stream.push(null);
  });
  stream.on('close', flowing);
}

function flowing() {
  const stream = Readable.from(['one', 'two', 'three']);
  stream.on('data', (chunk) => {
    log('data', chunk);
    if (chunk === 'one') {
      stream.pause();
      setTimeout(() => stream.resume(), 1);
    }
  });
  stream.on('end', () => log('end')).on('close', () => helpers());
}

async function helpers() {
  const numbers = () => Readable.from([1, 2, 3, 4, 5]);
  log(await numbers().filter((n) => n % 2 === 1).map(async (n) => n * 10).toArray());
  log(await numbers().reduce((sum, n) => sum + n, 0), await numbers().some((n) => n > 4), await numbers().every((n) => n > 4));
  log(await numbers().drop(1).take(2).toArray(), await numbers().find((n) => n > 2), await numbers().flatMap((n) => [n, n]).toArray());
  for await (const n of numbers()) {
    if (n === 2) break;
    log('of', n);
  }
  const failing = new Readable({ read() { this.destroy(new Error('broken')); } });
  try {
    for await (const chunk of failing) log(chunk);
  } catch (error) {
    log('caught', error.message);
  }
  log(await consumers.text(Readable.from(['é', Buffer.from('ü')])), await consumers.json(Readable.from(['{"a"', ':1}'])));
  log(await consumers.buffer(Readable.from([Buffer.from('ab'), Buffer.from('c')])));
  log((await consumers.arrayBuffer(Readable.from(['xyz']))).byteLength, (await consumers.blob(Readable.from(['xyz']))).size);
}

events();
