// `util.inspect`: values as text for people. What single kinds of values look like stands in inspect_kinds.js, how the
// parts come on lines in layout.js.
'use strict';

const types = require('internal/types');
const { proxyDetails } = binding('util');
const { layOut, removeColours, width } = require('internal/layout');

const custom = Symbol.for('nodejs.util.inspect.custom');
const getPrototypeOf = Object.getPrototypeOf;
const getDescriptor = Object.getOwnPropertyDescriptor;
const isEnumerable = (value, key) => Object.prototype.propertyIsEnumerable.call(value, key);

// What an entry is: a property, an element of a list, a property of a list.
const PROPERTY = 0;
const ELEMENT = 1;
const LIST_PROPERTY = 2;

let defaults = Object.seal({
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10000,
  breakLength: 128,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
});

// The names of the engine's own classes: what scripts add to the globals is no part of them.
const builtIns = new Set(Object.getOwnPropertyNames(globalThis).filter((name) => {
  if (!/^[A-Z][a-zA-Z0-9]+$/.test(name)) return false;
  const { value } = getDescriptor(globalThis, name);
  return typeof value === 'function' && Function.prototype.toString.call(value).includes('[native code]');
}));

function inspect(value, options, ...legacy) {
  const ctx = {
    budget: {},
    indentationLvl: 0,
    seen: [],
    currentDepth: 0,
    stylize: plain,
    ...defaults,
    breakLength: defaults.breakLength === 128 ? 80 : defaults.breakLength,
  };
  if (legacy.length > 0 && legacy[0] !== undefined) ctx.depth = legacy[0];
  if (legacy.length > 1 && legacy[1] !== undefined) ctx.colors = legacy[1];
  if (typeof options === 'boolean') {
    ctx.showHidden = options;
  } else if (options) {
    for (const key of Object.keys(options)) {
      if (Object.hasOwn(defaults, key) || key === 'stylize') ctx[key] = options[key];
      // Kept for custom functions alone.
      else ctx.userOptions ??= options;
    }
  }
  if (ctx.colors) ctx.stylize = coloured;
  ctx.maxArrayLength ??= Infinity;
  ctx.maxStringLength ??= Infinity;
  return formatValue(ctx, value, 0);
}

inspect.custom = custom;

Object.defineProperty(inspect, 'defaultOptions', {
  get: () => defaults,
  set(options) {
    require('internal/validators').validateObject(options, 'options');
    Object.assign(defaults, options);
  },
});

inspect.colors = Object.assign(Object.create(null), {
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27],
  hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24], black: [30, 39], red: [31, 39], green: [32, 39],
  yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], bgBlack: [40, 49], bgRed: [41, 49],
  bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49], bgWhite: [47, 49],
  framed: [51, 54], overlined: [53, 55], gray: [90, 39], redBright: [91, 39], greenBright: [92, 39], yellowBright: [93, 39],
  blueBright: [94, 39], magentaBright: [95, 39], cyanBright: [96, 39], whiteBright: [97, 39], bgGray: [100, 49],
  bgRedBright: [101, 49], bgGreenBright: [102, 49], bgYellowBright: [103, 49], bgBlueBright: [104, 49],
  bgMagentaBright: [105, 49], bgCyanBright: [106, 49], bgWhiteBright: [107, 49],
});
for (const [alias, name] of [['grey', 'gray'], ['blackBright', 'gray'], ['bgGrey', 'bgGray'], ['bgBlackBright', 'bgGray'],
  ['faint', 'dim'], ['crossedout', 'strikethrough'], ['strikeThrough', 'strikethrough'], ['crossedOut', 'strikethrough'],
  ['conceal', 'hidden'], ['swapColors', 'inverse'], ['swapcolors', 'inverse'], ['doubleUnderline', 'doubleunderline']]) {
  Object.defineProperty(inspect.colors, alias, {
    get() { return this[name]; }, set(value) { this[name] = value; }, configurable: true, enumerable: false,
  });
}
inspect.styles = Object.assign(Object.create(null), {
  special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold', string: 'green',
  symbol: 'green', date: 'magenta', regexp: 'red', module: 'underline',
});

function coloured(text, kind) {
  const colour = inspect.colors[inspect.styles[kind]];
  return colour === undefined ? text : `\u001b[${colour[0]}m${text}\u001b[${colour[1]}m`;
}

const plain = (text) => text;

// The options as a custom function gets them.
function userOptions(ctx, isForeign) {
  const options = { stylize: ctx.stylize };
  for (const key of Object.keys(defaults)) options[key] = ctx[key];
  Object.assign(options, ctx.userOptions);
  if (isForeign) {
    // Nothing of ours may lead a strange object to our prototypes.
    Object.setPrototypeOf(options, null);
    options.stylize = Object.setPrototypeOf((value, kind) => `${ctx.stylize(`${value}`, kind)}`, null);
  }
  return options;
}

function formatValue(ctx, value, depth, isTyped) {
  if (typeof value !== 'object' && typeof value !== 'function') return formatPrimitive(ctx.stylize, value, ctx);
  if (value === null) return ctx.stylize('null', 'null');
  const shown = value;
  const proxy = proxyDetails(value);
  if (proxy !== undefined) {
    if (proxy[0] === null) return ctx.stylize('<Revoked Proxy>', 'special');
    if (ctx.showProxy) return kinds().formatProxy(ctx, proxy, depth);
    value = proxy[0];
    for (let inner; (inner = proxyDetails(value)) !== undefined; value = inner[0]) {
      if (inner[0] === null) return ctx.stylize('<Revoked Proxy>', 'special');
    }
  }
  if (ctx.customInspect) {
    const own = value[custom];
    // A prototype that has the function is shown as it is.
    if (typeof own === 'function' && own !== inspect && value.constructor?.prototype !== value) {
      const left = ctx.depth === null ? null : ctx.depth - depth;
      const answer = own.call(shown, left, userOptions(ctx, proxy !== undefined || !(shown instanceof Object)), inspect);
      if (answer !== shown) {
        if (typeof answer === 'object') return formatValue(ctx, answer, depth);
        // Its lines stand where those of a value would.
        return `${answer}`.replaceAll('\n', `\n${' '.repeat(ctx.indentationLvl)}`);
      }
    }
  }
  if (ctx.seen.includes(value)) {
    ctx.circular ??= new Map();
    let number = ctx.circular.get(value);
    if (number === undefined) ctx.circular.set(value, number = ctx.circular.size + 1);
    return ctx.stylize(`[Circular *${number}]`, 'special');
  }
  return formatObject(ctx, value, depth, isTyped);
}

// inspect_kinds.js needs this file.
let loadedKinds;
const kinds = () => (loadedKinds ??= require('internal/inspect_kinds'));

function formatObject(ctx, value, depth, isTyped) {
  const inherited = ctx.showHidden && (depth <= ctx.depth || ctx.depth === null) ? [] : undefined;
  const constructor = constructorName(ctx, value, depth, inherited);
  let tag = value[Symbol.toStringTag];
  // A tag that is shown as a property is not told twice.
  if (typeof tag !== 'string' || (tag !== '' &&
      (ctx.showHidden ? Object.hasOwn(value, Symbol.toStringTag) : isEnumerable(value, Symbol.toStringTag)))) {
    tag = '';
  }
  const shape = kinds().shapeOf(ctx, value, constructor, tag, depth, inherited?.length > 0, isTyped);
  // What needs no braces is ready.
  if (typeof shape === 'string') return shape;
  let { base } = shape;
  const { braces, keys, format, isList } = shape;
  if (depth > ctx.depth && ctx.depth !== null) {
    const name = prefix(constructor, tag, shape.fallback ?? 'Object').slice(0, -1);
    return ctx.stylize(constructor === null ? name : `[${name}]`, 'special');
  }
  depth++;
  ctx.seen.push(value);
  ctx.currentDepth = depth;
  let entries;
  const indentation = ctx.indentationLvl;
  try {
    entries = format === undefined ? [] : format(ctx, value, depth);
    for (const key of keys) entries.push(formatProperty(ctx, value, depth, key, isList ? LIST_PROPERTY : PROPERTY));
    if (inherited !== undefined) entries.push(...inherited);
  } catch (error) {
    if (!(error instanceof RangeError && /call stack/.test(error.message))) throw error;
    ctx.seen.pop();
    ctx.indentationLvl = indentation;
    return ctx.stylize(`[${prefix(constructor, tag, 'Object').slice(0, -1)}: Inspection interrupted prematurely. ` +
      'Maximum call stack size exceeded.]', 'special');
  }
  const number = ctx.circular?.get(value);
  if (number !== undefined) {
    const reference = ctx.stylize(`<ref *${number}>`, 'special');
    if (ctx.compact === true) braces[0] = `${reference} ${braces[0]}`;
    else base = base === '' ? reference : `${reference} ${base}`;
  }
  ctx.seen.pop();
  if (ctx.sorted) {
    const order = ctx.sorted === true ? undefined : ctx.sorted;
    if (!isList) {
      entries.sort(order);
    } else if (keys.length > 1) {
      const sorted = entries.slice(-keys.length).sort(order);
      entries.splice(-keys.length, keys.length, ...sorted);
    }
  }
  const text = layOut(ctx, entries, base, braces, isList, depth, value);
  // A text that grows beyond all measure goes no deeper.
  const length = (ctx.budget[ctx.indentationLvl] ?? 0) + text.length;
  ctx.budget[ctx.indentationLvl] = length;
  if (length > 2 ** 27) ctx.depth = -1;
  return text;
}

function isInstance(value, Class) {
  try {
    return value instanceof Class;
  } catch {
    return false;
  }
}

// The name of the nearest class that the object is an instance of; null if it has no prototype.
function constructorName(ctx, value, depth, inherited) {
  let first;
  for (let at = value; at !== null;) {
    const made = getDescriptor(at, 'constructor');
    if (made !== undefined && typeof made.value === 'function' && made.value.name !== '' && isInstance(value, made.value)) {
      if (inherited !== undefined && (first !== at || !builtIns.has(made.value.name))) {
        addInherited(ctx, value, first ?? value, depth, inherited);
      }
      return String(made.value.name);
    }
    at = getPrototypeOf(at);
    if (first === undefined) first = at;
  }
  if (first === null) return null;
  const name = Object.prototype.toString.call(value).slice(8, -1);
  if (depth > ctx.depth && ctx.depth !== null) return `${name} <Complex prototype>`;
  const above = constructorName(ctx, first, depth + 1, inherited);
  if (above === null) return `${name} <${inspect(first, { ...ctx, customInspect: false, depth: -1 })}>`;
  return `${name} <${above}>`;
}

// The properties, but for methods, of up to three prototypes that are no built-in ones.
function addInherited(ctx, value, from, depth, entries) {
  const seen = new Set();
  let at = from;
  for (let level = 0; level < 3; level++) {
    if (level !== 0 || value === at) {
      at = getPrototypeOf(at);
      if (at === null) return;
      const made = getDescriptor(at, 'constructor');
      if (made !== undefined && typeof made.value === 'function' && builtIns.has(made.value.name)) return;
    }
    const keys = Reflect.ownKeys(at);
    ctx.seen.push(value);
    for (const key of keys) {
      if (key === 'constructor' || Object.hasOwn(value, key) || seen.has(key)) continue;
      const descriptor = getDescriptor(at, key);
      if (typeof descriptor.value === 'function') continue;
      const text = formatProperty(ctx, at, depth, key, PROPERTY, descriptor, value);
      entries.push(ctx.colors ? `\u001b[2m${text}\u001b[22m` : text);
    }
    ctx.seen.pop();
    for (const key of keys) seen.add(key);
  }
}

// What stands before the brace: the class, with what is unusual about it. Ends in a space.
function prefix(constructor, tag, fallback, size = '') {
  if (constructor === null) {
    return tag !== '' && fallback !== tag ? `[${fallback}${size}: null prototype] [${tag}] ` : `[${fallback}${size}: null prototype] `;
  }
  return tag !== '' && constructor !== tag ? `${constructor}${size} [${tag}] ` : `${constructor}${size} `;
}

function formatProperty(ctx, value, depth, key, kind, descriptor, original = value) {
  descriptor ??= getDescriptor(value, key) ?? { value: value[key], configurable: true, enumerable: true };
  let gap = ' ';
  let text;
  if (descriptor.value !== undefined) {
    const step = ctx.compact !== true || kind !== PROPERTY ? 2 : 3;
    ctx.indentationLvl += step;
    text = formatValue(ctx, descriptor.value, depth);
    if (step === 3 && ctx.breakLength < width(text, ctx.colors)) gap = `\n${' '.repeat(ctx.indentationLvl)}`;
    ctx.indentationLvl -= step;
  } else if (descriptor.get !== undefined) {
    text = formatGetter(ctx, descriptor, original, depth);
  } else {
    text = descriptor.set !== undefined ? ctx.stylize('[Setter]', 'special') : ctx.stylize('undefined', 'undefined');
  }
  if (kind === ELEMENT) return text;
  let name;
  if (typeof key === 'symbol') name = `[${ctx.stylize(escapeSome(Symbol.prototype.toString.call(key)), 'symbol')}]`;
  else if (key === '__proto__') name = "['__proto__']";
  else if (descriptor.enumerable === false) name = `[${escapeSome(key)}]`;
  else if (/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)) name = ctx.stylize(key, 'name');
  else name = ctx.stylize(quote(key), 'string');
  // Not copied: it may be long.
  return name + ':' + gap + text;
}

function formatGetter(ctx, { get, set }, original, depth) {
  const label = set !== undefined ? 'Getter/Setter' : 'Getter';
  const special = (text) => ctx.stylize(text, 'special');
  const isAsked = ctx.getters === true || (ctx.getters === 'get' && set === undefined) || (ctx.getters === 'set' && set !== undefined);
  if (!isAsked) return special(`[${label}]`);
  try {
    const value = get.call(original);
    ctx.indentationLvl += 2;
    let text;
    if (value === null) text = `${special(`[${label}:`)} ${ctx.stylize('null', 'null')}${special(']')}`;
    else if (typeof value === 'object') text = `${special(`[${label}]`)} ${formatValue(ctx, value, depth)}`;
    else text = `${special(`[${label}:`)} ${formatPrimitive(ctx.stylize, value, ctx)}${special(']')}`;
    ctx.indentationLvl -= 2;
    return text;
  } catch (error) {
    return `${special(`[${label}:`)} <Inspection threw (${error.message})>${special(']')}`;
  }
}

// Characters that cannot be seen, halves of pairs, and the backslash; the quote that is in use as well.
const NEEDS_ESCAPE = /[\x00-\x1f\x27\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const ESCAPES = new RegExp(NEEDS_ESCAPE, 'g');
const ESCAPES_BUT_QUOTE = /[\x00-\x1f\x5c\x7f-\x9f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const SHORT = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\', "'": "\\'" };

function escapeOne(char) {
  const short = SHORT[char];
  if (short !== undefined) return short;
  const code = char.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.toUpperCase().padStart(2, '0')}` : `\\u${code}`;
}

const escapeSome = (text) => text.replace(ESCAPES_BUT_QUOTE, (char) => (char === '\\' ? char : escapeOne(char)));

// A text in the quotes that need no escape, single ones by choice.
function quote(text) {
  if (!NEEDS_ESCAPE.test(text)) return `'${text}'`;
  if (text.includes("'")) {
    if (!text.includes('"')) return `"${text.replace(ESCAPES_BUT_QUOTE, escapeOne)}"`;
    if (!text.includes('`') && !text.includes('${')) return `\`${text.replace(ESCAPES_BUT_QUOTE, escapeOne)}\``;
  }
  return `'${text.replace(ESCAPES, escapeOne)}'`;
}

function separated(digits) {
  return digits.replace(/\B(?=(\d{3})+$)/g, '_');
}

function formatNumber(stylize, number, hasSeparator) {
  if (Object.is(number, -0)) return stylize('-0', 'number');
  const text = `${number}`;
  const parts = hasSeparator && /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!parts) return stylize(text, 'number');
  const fraction = parts[3] === undefined ? '' : `.${parts[3].replace(/\d{3}(?=\d)/g, '$&_')}`;
  return stylize(`${parts[1]}${separated(parts[2])}${fraction}`, 'number');
}

function formatBigInt(stylize, number, hasSeparator) {
  const text = String(number);
  return stylize(`${hasSeparator ? text.replace(/\d+/, separated) : text}n`, 'bigint');
}

function formatPrimitive(stylize, value, ctx) {
  switch (typeof value) {
    case 'string': {
      let rest = '';
      if (value.length > ctx.maxStringLength) {
        const left = value.length - ctx.maxStringLength;
        value = value.slice(0, ctx.maxStringLength);
        rest = `... ${left} more character${left > 1 ? 's' : ''}`;
      }
      // A long text is broken behind its own line ends.
      if (ctx.compact !== true && value.length > 16 && value.length > ctx.breakLength - ctx.indentationLvl - 4) {
        const lines = value.split(/(?<=\n)/).map((line) => stylize(quote(line), 'string'));
        return lines.join(` +\n${' '.repeat(ctx.indentationLvl + 2)}`) + rest;
      }
      return stylize(quote(value), 'string') + rest;
    }
    case 'number': return formatNumber(stylize, value, ctx.numericSeparator);
    case 'bigint': return formatBigInt(stylize, value, ctx.numericSeparator);
    case 'boolean': return stylize(`${value}`, 'boolean');
    case 'undefined': return stylize('undefined', 'undefined');
    default: return stylize(escapeSome(Symbol.prototype.toString.call(value)), 'symbol');
  }
}

module.exports = {
  inspect, formatValue, formatProperty, formatPrimitive, formatNumber, formatBigInt, prefix, plain, quote, builtIns, types,
  removeColours, width, PROPERTY, ELEMENT,
};
