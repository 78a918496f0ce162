// Files that tests read.
'use strict';

const fs = require('fs');
const path = require('path');
const { pathToFileURL } = require('url');

const fixturesDir = path.join(__dirname, '..', 'fixtures');
const fixturesPath = (...parts) => path.join(fixturesDir, ...parts);

module.exports = {
  fixturesDir,
  path: fixturesPath,
  fileURL: (...parts) => pathToFileURL(fixturesPath(...parts)),
  readSync: (parts, encoding) => fs.readFileSync(fixturesPath(...(Array.isArray(parts) ? parts : [parts])), encoding),
  readKey: (name, encoding) => fs.readFileSync(fixturesPath('keys', name), encoding),
};
