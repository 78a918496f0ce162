// `buffer.transcode`: from one encoding of text to another.
'use strict';

const { Buffer } = require('buffer');
const { codes } = require('internal/codes');

const NAMES = { __proto__: null, 'utf8': 'utf8', 'utf-8': 'utf8', 'ucs2': 'ucs2', 'ucs-2': 'ucs2', 'utf16le': 'ucs2', 'utf-16le': 'ucs2',
  'latin1': 'latin1', 'binary': 'latin1', 'ascii': 'ascii' };
// What an encoding has no byte for becomes a question mark.
const FOREIGN = { ascii: /[^\0-\x7f]/gu, latin1: /[^\0-\xff]/gu };

// In the words of Node, which are those of ICU.
function refuse(code, errno) {
  throw Object.assign(new Error(`Unable to transcode Buffer [${code}]`), { code, errno });
}

module.exports = function transcode(source, fromEncoding, toEncoding) {
  if (!(source instanceof Uint8Array)) throw new codes.ERR_INVALID_ARG_TYPE('source', ['Buffer', 'Uint8Array'], source);
  if (source.length === 0) return Buffer.alloc(0);
  const from = NAMES[`${fromEncoding ?? 'utf8'}`.toLowerCase()];
  const to = NAMES[`${toEncoding ?? 'utf8'}`.toLowerCase()];
  if (from === undefined || to === undefined) refuse('U_ILLEGAL_ARGUMENT_ERROR', 1);
  if (from === 'utf8' && to === 'ucs2' && !binding('text').isValid(source)) refuse('U_INVALID_CHAR_FOUND', 10);
  const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
  const text = from === 'ascii' ? bytes.latin1Slice().replace(/[\x80-\xff]/g, '\ufffd') : bytes.toString(from);
  return Buffer.from(FOREIGN[to] ? text.replace(FOREIGN[to], '?') : text, to === 'ascii' ? 'latin1' : to);
};
