// The package `string_decoder` requires this one for engines without these methods.
module.exports = require('buffer');
