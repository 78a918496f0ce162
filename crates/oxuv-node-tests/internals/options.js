// What tests take from Node's `internal/options`.
'use strict';

const values = { '--max-http-header-size': 16 * 1024 };

module.exports = { getOptionValue: (name) => values[name] };
