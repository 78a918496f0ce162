// The module `punycode`: the package of this name.
module.exports = require('vendor/punycode');
