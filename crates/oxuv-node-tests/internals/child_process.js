// What tests take from Node's `internal/child_process`. The class is the program's own.
'use strict';

module.exports = { ChildProcess: require('child_process').ChildProcess };
