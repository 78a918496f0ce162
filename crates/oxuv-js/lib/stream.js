// The module `stream`: the package readable-stream, which is Node's streams of version 18.19.
'use strict';

const load = require('internal/readable_stream');

module.exports = load('lib/stream');
