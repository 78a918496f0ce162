// The global `console`.
'use strict';

const { write } = binding('process');

function format(args) {
  return args.map((arg) => (typeof arg === 'string' ? arg : String(arg))).join(' ');
}

const log = (...args) => write(1, `${format(args)}\n`);
const error = (...args) => write(2, `${format(args)}\n`);

module.exports = { log, info: log, debug: log, error, warn: error, trace: error };
