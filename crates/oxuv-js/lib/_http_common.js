// What scripts know by this name: inner parts of `http`.
'use strict';

const common = require('internal/http/common');
const parser = require('internal/http/parser');

module.exports = {
  _checkInvalidHeaderChar: common.hasWrongCharacter,
  _checkIsHttpToken: common.isToken,
  CRLF: '\r\n',
  chunkExpression: common.CHUNKED,
  continueExpression: common.CONTINUE,
  freeParser: parser.freeParser,
  HTTPParser: parser.HTTPParser,
  isLenient: parser.isLenient,
  methods: parser.methods,
  parsers: parser.parsers,
  prepareError: parser.prepareError,
};
