'use strict';

// What readline writes to a terminal, as Node names it.
const CSI = (parts, ...values) => `\x1b[${String.raw({ raw: parts }, ...values)}`;
Object.assign(CSI, { kEscape: '\x1b', kClearToLineBeginning: CSI`1K`, kClearToLineEnd: CSI`0K`, kClearLine: CSI`2K`, kClearScreenDown: CSI`0J` });

module.exports = { CSI };
