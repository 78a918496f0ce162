// What tests take from Node's `internal/fs/utils`, by what the program does.
'use strict';

const fs = require('fs');

const BigIntStats = fs.statSync('/', { bigint: true }).constructor;

// As Node's, which is made of milliseconds and nanoseconds.
function bigIntStats(...values) {
  return new BigIntStats(...values.slice(0, 10), ...values.slice(14));
}

// The program itself looks at the options; there is nothing it could remove.
function validateRmOptionsSync(path, options) {
  try {
    fs.rmSync('/nothing/is/here', options);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return { retryDelay: 100, maxRetries: 0, recursive: false, force: false, ...options };
}

function validateRmdirOptions(options) {
  try {
    fs.rmdirSync('/nothing/is/here', options);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  return { retryDelay: 100, maxRetries: 0, recursive: false, ...options };
}

module.exports = { BigIntStats: bigIntStats, validateRmOptionsSync, validateRmdirOptions };
