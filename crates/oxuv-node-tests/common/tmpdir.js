// A folder for the files of one test.
'use strict';

const fs = require('fs');
const path = require('path');

const tmpPath = process.env.NODE_TEST_DIR || `/tmp/oxuv-node-tests-${process.pid}`;

function refresh() {
  fs.rmSync(tmpPath, { recursive: true, force: true, maxRetries: 3 });
  fs.mkdirSync(tmpPath, { recursive: true });
  process.on('exit', () => {
    process.chdir('/');
    fs.rmSync(tmpPath, { recursive: true, force: true });
  });
}

module.exports = {
  path: tmpPath,
  refresh,
  resolve: (...parts) => path.resolve(tmpPath, ...parts),
  hasEnoughSpace: () => true,
};
