// pipeline, finished, compose, abort signals: order of what happens, and errors.
'use strict';

const { Readable, Writable, Transform, PassThrough, Duplex, pipeline, finished, addAbortSignal, compose } = require('stream');
const promises = require('stream/promises');

const upper = () => new Transform({ transform(chunk, encoding, done) { done(null, String(chunk).toUpperCase()); } });
const into = (list) => new Writable({ write(chunk, encoding, done) { list.push(String(chunk)); done(); } });
const code = (error) => error?.code ?? error?.name ?? null;

async function main() {
  const got = [];
  await promises.pipeline(Readable.from(['a', 'b']), upper(), into(got));
  console.log(got);

  console.log(await promises.pipeline(Readable.from(['x', 'y']), async function* (source) {
    for await (const each of source) yield `${each}${each}`;
  }, async (source) => {
    let all = '';
    for await (const each of source) all += each;
    return all;
  }));

  const bad = new Readable({ read() { this.destroy(new Error('no more')); } });
  const sink = into([]);
  await new Promise((resolve) => pipeline(bad, upper(), sink, (error) => {
    console.log('pipeline', error.message, bad.destroyed, sink.destroyed);
    resolve();
  }));

  const early = new PassThrough();
  finished(early, (error) => console.log('finished', code(error)));
  early.destroy();

  const controller = new AbortController();
  const endless = addAbortSignal(controller.signal, new Readable({ read() {} }));
  endless.on('error', (error) => console.log('aborted', error.name, code(error)));
  controller.abort();

  const both = compose(upper(), async function* (source) { for await (const each of source) yield `<${each}>`; });
  both.end('hi');
  for await (const each of both) console.log(String(each));

  const duplex = Duplex.from(async function* (source) { for await (const each of source) yield `${each}!`; });
  duplex.end('yes');
  for await (const each of duplex) console.log(String(each));

  await promises.finished(Readable.from([1]).resume());
  console.log('done');
}

main();
