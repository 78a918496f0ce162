module.exports = require('path');
