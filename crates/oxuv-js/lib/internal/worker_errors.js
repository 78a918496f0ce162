// Errors that nobody caught in a worker, on their way to who started it.
'use strict';

const CLASSES = ['AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'Error'];

// As plain as messages are: what cannot be sent of it is left out.
function describe(error) {
  const { serialize } = require('internal/serializer');
  const isSendable = (value) => {
    try {
      serialize(value);
      return true;
    } catch {
      return false;
    }
  };
  if (!(error instanceof Error)) {
    if (isSendable(error)) return { kind: 'value', value: error };
    return { kind: 'text', text: inspected(error) };
  }
  let hasStack = true;
  try {
    hasStack = typeof error.stack === 'string';
  } catch {
    hasStack = false;
  }
  const name = CLASSES.find((each) => error instanceof globalThis[each]);
  const properties = [];
  for (const key of new Set([...Object.getOwnPropertyNames(error), 'stack', 'message', 'name', 'code'])) {
    try {
      const value = error[key];
      const own = Object.getOwnPropertyDescriptor(error, key);
      if (own === undefined && (key === 'name' || value === undefined)) continue;
      if (isSendable(value)) properties.push([key, value, own?.enumerable ?? false]);
    } catch { /* A getter of the script's throws. */ }
  }
  if (!hasStack) properties.push(['stack', undefined, false]);
  return { kind: 'error', name, properties };
}

function inspected(value) {
  try {
    return require('util').inspect(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function restore({ kind, value, text, name, properties }) {
  if (kind === 'value') return value;
  if (kind === 'text') return text;
  const error = new globalThis[name](...(name === 'AggregateError' ? [[]] : []));
  for (const [key, held, enumerable] of properties) {
    Object.defineProperty(error, key, { value: held, writable: true, enumerable, configurable: true });
  }
  return error;
}

module.exports = { describe, restore };
