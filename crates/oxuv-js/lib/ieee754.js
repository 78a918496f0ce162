// The package, by the name that others require.
module.exports = require('vendor/ieee754');
