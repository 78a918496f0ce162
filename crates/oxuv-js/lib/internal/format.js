// `util.format`: text with places for values.
'use strict';

const { inspect, formatNumber, formatBigInt, plain, builtIns } = require('internal/inspect');
const { proxyDetails } = binding('util');

// True if the text of an object would be that of a class of the engine: then inspect says more.
function hasBuiltInText(value) {
  for (let proxy; (proxy = proxyDetails(value)) !== undefined; value = proxy[0]) {
    if (proxy[0] === null) return true;
  }
  if (typeof value.toString !== 'function') return true;
  if (Object.hasOwn(value, 'toString')) return false;
  let at = value;
  do {
    at = Object.getPrototypeOf(at);
  } while (!Object.hasOwn(at, 'toString'));
  const made = Object.getOwnPropertyDescriptor(at, 'constructor');
  return made !== undefined && typeof made.value === 'function' && builtIns.has(made.value.name);
}

const separates = (options) => options?.numericSeparator ?? inspect.defaultOptions.numericSeparator;

function asString(value, options) {
  switch (typeof value) {
    case 'number': return formatNumber(plain, value, separates(options));
    case 'bigint': return formatBigInt(plain, value, separates(options));
    case 'object':
      if (value !== null && hasBuiltInText(value)) return inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
      return String(value);
    default: return String(value);
  }
}

function asNumber(value, options) {
  if (typeof value === 'bigint') return formatBigInt(plain, value, separates(options));
  if (typeof value === 'symbol') return formatNumber(plain, NaN);
  return formatNumber(plain, Number(value), separates(options));
}

function asInteger(value, options) {
  if (typeof value === 'bigint') return formatBigInt(plain, value, separates(options));
  if (typeof value === 'symbol') return formatNumber(plain, NaN);
  return formatNumber(plain, Number.parseInt(value), separates(options));
}

const asFloat = (value) => (typeof value === 'symbol' ? 'NaN' : formatNumber(plain, Number.parseFloat(value), separates()));

function asJson(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (isCircular(value)) return '[Circular]';
    throw error;
  }
}

// True if the JSON of a value would never end.
function isCircular(value, above = new Set()) {
  if (typeof value !== 'object' || value === null) return false;
  if (above.has(value)) return true;
  above.add(value);
  for (const key of Object.keys(value)) if (isCircular(value[key], above)) return true;
  above.delete(value);
  return false;
}

function formatPlace(kind, value, options) {
  switch (kind) {
    case 's': return asString(value, options);
    case 'd': return asNumber(value, options);
    case 'i': return asInteger(value, options);
    case 'f': return asFloat(value);
    case 'j': return asJson(value);
    case 'O': return inspect(value, options);
    case 'o': return inspect(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    default: return '';
  }
}

function formatAll(options, args) {
  const [first] = args;
  if (args.length === 1) return typeof first === 'string' ? first : inspect(first, options);
  let text = '';
  let next = 0;
  let gap = '';
  if (typeof first === 'string') {
    next = 1;
    // Places beyond the last value stay as they are.
    text = first.replace(/%([sdifjOoc%])/g, (place, kind) => {
      if (kind === '%') return args.length > 1 ? '%' : place;
      return next < args.length ? formatPlace(kind, args[next++], options) : place;
    });
    gap = ' ';
  }
  for (; next < args.length; next++) {
    const value = args[next];
    text += gap + (typeof value === 'string' ? value : inspect(value, options));
    gap = ' ';
  }
  return text;
}

const format = (...args) => formatAll(undefined, args);

function formatWithOptions(options, ...args) {
  require('internal/validators').validateObject(options, 'inspectOptions', { allowArray: true });
  return formatAll(options, args);
}

module.exports = { format, formatWithOptions, formatAll };
