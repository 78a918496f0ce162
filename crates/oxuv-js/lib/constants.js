// The module `constants`: those of `os` and `fs` in one.
'use strict';

const { dlopen, errno, priority, signals } = require('os').constants;

module.exports = Object.freeze({ ...dlopen, ...errno, ...priority, ...signals, ...require('fs').constants });
