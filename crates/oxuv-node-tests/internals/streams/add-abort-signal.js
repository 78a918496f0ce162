'use strict';

const { addAbortSignal } = require('stream');

// The one without checks is not to be had outside; it does the same for streams.
module.exports = { addAbortSignal, addAbortSignalNoValidate: addAbortSignal };
