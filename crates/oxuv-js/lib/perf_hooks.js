// The module `perf_hooks`: marks and measures.
'use strict';

module.exports = { ...require('internal/performance') };
