'use strict';

const { EventEmitter } = require('events');
const { Interface } = require('readline');
const util = require('util');

// How wide a text is on a terminal, as readline has it.
function getStringWidth(text) {
  const input = Object.assign(new EventEmitter(), { resume() {}, pause() {} });
  const reader = new Interface({ input, terminal: true, prompt: '' });
  Object.assign(reader, { line: text, cursor: text.length });
  const { cols } = reader.getCursorPos();
  reader.close();
  return cols;
}

module.exports = { ...util.inspect, inspect: util.inspect, format: util.format, stripVTControlCharacters: util.stripVTControlCharacters, getStringWidth };
