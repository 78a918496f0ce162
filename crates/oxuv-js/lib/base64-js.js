// The package, by the name that others require.
module.exports = require('vendor/base64-js');
