// The global `console`. Its class and most of its work are loaded when something else than plain text is asked for.
'use strict';

const { Console, prepare } = require('internal/console');

const console = Object.create({});
Object.defineProperty(console, Symbol.toStringTag, { value: 'console', configurable: true });
prepare(console, { isGlobal: true, ignoreErrors: true, colorMode: 'auto', step: 2 });
Object.defineProperty(console, 'Console', { value: Console, writable: true, enumerable: true, configurable: true });

module.exports = console;
