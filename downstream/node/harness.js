// Checks, one after the other, each with a limit of time.
'use strict';

const checks = [];
const short = process.argv[2] === 'short';

// The number of rounds: the first in the short form.
exports.rounds = (few, many) => (short ? few : many);
exports.check = (name, run) => checks.push([name, run]);

// The process's libuv, by what is mapped.
exports.library = (pid) => {
  const maps = require('fs').readFileSync(`/proc/${pid}/maps`, 'utf8');
  return [...new Set(maps.match(/\/\S*libuv\S*/g))].join(' ');
};

// What an event came with: one value, or a list of several.
exports.once = (emitter, event) => new Promise((resolve, reject) => {
  const fails = (error) => {
    emitter.removeListener(event, comes);
    reject(error);
  };
  const comes = (...values) => {
    emitter.removeListener('error', fails);
    resolve(values.length > 1 ? values : values[0]);
  };
  emitter.once(event, comes);
  if (event !== 'error') emitter.once('error', fails);
});

exports.collect = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

exports.digest = (data) => require('crypto').createHash('sha256').update(data).digest('hex');

async function main() {
  for (const [name, run] of checks) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(reject, 20000, new Error('not done in 20 seconds'));
    });
    try {
      await Promise.race([run(), late]);
      console.log(`ok - ${name}`);
    } catch (error) {
      console.log(`not ok - ${name}: ${String(error.stack).replace(/\s+/g, ' ').slice(0, 500)}`);
      if (error.message.startsWith('not done')) process.exit(1);
    } finally {
      clearTimeout(timer);
    }
  }
  // What a check leaves open keeps the process from ending.
  setTimeout(() => {
    console.log(`not ok - ${process.argv[1]} does not end by itself`);
    process.exit(1);
  }, 5000).unref();
}
setImmediate(main);
