// `buffer.transcode`, `util.MIMEType`.
'use strict';

const { Buffer, transcode } = require('buffer');
const { MIMEType, MIMEParams } = require('util');

const attempt = (act) => {
  try {
    console.log(act());
  } catch (error) {
    console.log(error.name, error.code, error.message, error.errno);
  }
};

for (const to of ['ascii', 'latin1', 'binary', 'ucs2', 'utf16le', 'utf8', 'UTF-16LE', 'ucs-2', 'us-ascii', 'hex']) {
  attempt(() => transcode(Buffer.from('€aé😀'), 'utf8', to));
}
for (const [bytes, from, to] of [[[0xac, 0x20, 0x61, 0], 'ucs2', 'utf8'], [[0xac, 0x20, 0x61, 0], 'ucs2', 'latin1'], [[0xe9, 0x41], 'latin1', 'utf8'],
  [[0xe9, 0x41], 'ascii', 'utf8'], [[0xe9, 0x41], 'ascii', 'latin1'], [[0xe9, 0x41], 'latin1', 'ascii'], [[0xff, 0x41], 'utf8', 'ucs2'], [[1, 2, 3], 'ucs2', 'utf8'],
  [[], 'utf8', 'ucs2'], [[0x41], 'b', 'utf8'], [[0x41], undefined, 'utf8']]) {
  attempt(() => transcode(new Uint8Array(bytes), from, to));
}
attempt(() => transcode('a', 'utf8', 'ascii'));

for (const text of [' Text/HTML ; Charset="UTF-8"; a=b;a=c;x="q\\"r;s" t; bad;=e; k=;l="";m="open', 'a/b;', 'a/b;c=d ;é=f;g=\u0100', '', 'a', 'a/', '/b', 'é/b', 'a/b c', 'a/b\n']) {
  attempt(() => `${new MIMEType(text)}`);
}
const type = new MIMEType('a/b;c=d');
attempt(() => JSON.stringify(type));
attempt(() => { type.type = 'X y'; });
attempt(() => { type.subtype = ''; });
attempt(() => { type.type = 'XY'; return type.essence; });
attempt(() => { type.params.set('e', 'f g'); type.params.set('E', ''); return String(type); });
attempt(() => type.params.set('', 'x'));
attempt(() => type.params.set('a', '\u0100'));
attempt(() => [...type.params].join('|'));
attempt(() => [type.params.get('c'), type.params.has('z'), type.params.get('z'), [...type.params.keys()], [...type.params.values()]]);
attempt(() => { type.params.delete('c'); return String(type.params); });
attempt(() => type.params instanceof MIMEParams);
