// What the options of the command line change for the script.
'use strict';

const process = require('process');

const actions = {
  '--no-warnings': () => { process._own.hidesWarnings = true; },
  '--trace-warnings': () => { process.traceProcessWarnings = true; },
  '--no-deprecation': () => { process.noDeprecation = true; },
  '--throw-deprecation': () => { process.throwDeprecation = true; },
  '--trace-deprecation': () => { process.traceDeprecation = true; },
  '--observed': () => require('internal/observing').begin(false),
  '--observed=places': () => require('internal/observing').begin(true),
  '--tell-at-exit': () => require('internal/observing').tellAtExit(),
  '--expose-gc': () => {
    const gc = () => binding('engine').collectGarbage();
    Object.defineProperty(globalThis, 'gc', { value: gc, writable: true, enumerable: false, configurable: true });
  },
};

function apply(flags) {
  for (const flag of flags) {
    const [name, value] = flag.split('=');
    if (name === '--unhandled-rejections') require('ticks').setRejectionMode(value);
    else if (Object.hasOwn(actions, flag)) actions[flag]();
  }
}

module.exports = { apply };
