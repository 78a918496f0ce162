// What single kinds of objects look like in `util.inspect`.
'use strict';

const {
  formatValue, formatProperty, formatPrimitive, formatNumber, formatBigInt, prefix, plain, PROPERTY, ELEMENT,
} = require('internal/inspect');
const types = require('internal/types');
const { promiseDetails } = binding('util');
const { typedArrayName, typedArrayLength, isWeakRef, MANY } = types.internal;
const formatError = (...args) => require('internal/inspect_errors').formatError(...args);

const sizeOfMap = Object.getOwnPropertyDescriptor(Map.prototype, 'size').get;
const sizeOfSet = Object.getOwnPropertyDescriptor(Set.prototype, 'size').get;

const isEnumerable = (value, key) => Object.prototype.propertyIsEnumerable.call(value, key);
const isIndex = (key) => typeof key === 'string' && /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;

function keysOf(value, showHidden) {
  const symbols = Object.getOwnPropertySymbols(value);
  if (showHidden) return [...Object.getOwnPropertyNames(value), ...symbols];
  let keys;
  try {
    keys = Object.keys(value);
  } catch (error) {
    // A namespace whose module has not run yet.
    if (!types.isModuleNamespaceObject(value)) throw error;
    keys = Object.getOwnPropertyNames(value);
  }
  const isShown = (key) => Object.prototype.propertyIsEnumerable.call(value, key);
  return symbols.length > 0 ? [...keys, ...symbols.filter(isShown)] : keys;
}

const keysButIndexes = (value, showHidden) => keysOf(value, showHidden).filter((key) => !isIndex(key));

const more = (count, what = 'item') => `... ${count} more ${what}${count > 1 ? 's' : ''}`;
const shown = (ctx, length) => Math.min(Math.max(0, ctx.maxArrayLength), length);

// What is common to all values of a kind: { base, braces, keys, format, isList }, or the whole text if there is no more to it.
function shapeOf(ctx, value, constructor, tag, depth, hasInherited, isTyped) {
  const isOpen = (keys) => keys.length > 0 || hasInherited;
  const shape = (open, keys, format, more) => ({ base: '', braces: [open, '}'], keys, format, isList: false, ...more });
  const based = (base, keys, kind) => (isOpen(keys) ? { ...shape('{', keys), base } : kind ? ctx.stylize(base, kind) : base);

  if (typeof value === 'function') return based(functionBase(value, constructor, tag), keysOf(value, ctx.showHidden), 'special');
  if (value[Symbol.iterator] || constructor === null) {
    const list = listShape(ctx, value, constructor, tag, isOpen, shape);
    if (list !== undefined) return list;
  }
  const keys = keysOf(value, ctx.showHidden);
  const open = (fallback) => `${prefix(constructor, tag, fallback)}{`;
  if (types.isArgumentsObject(value)) {
    const front = constructor === 'Object' ? '[Arguments] ' : prefix(constructor, tag, 'Arguments');
    return isOpen(keys) ? shape(`${front}{`, keys) : `${front}{}`;
  }
  if (constructor === 'Object') {
    // The usual case, and not worth more questions.
    const front = tag === '' ? '{' : open('Object');
    if (Object.prototype.toString.call(value) === '[object Object]' || typeof value[Symbol.toStringTag] === 'string') {
      return isOpen(keys) ? shape(front, keys) : `${front}}`;
    }
  }
  if (types.isRegExp(value)) {
    let base = RegExp.prototype.toString.call(constructor !== null ? value : new RegExp(value));
    const front = prefix(constructor, tag, 'RegExp');
    if (front !== 'RegExp ') base = `${front}${base}`;
    if (depth > ctx.depth && ctx.depth !== null) return ctx.stylize(base, 'regexp');
    return based(base, keys, 'regexp');
  }
  if (types.isDate(value)) {
    const time = Date.prototype.getTime.call(value);
    let base = Number.isNaN(time) ? 'Invalid Date' : Date.prototype.toISOString.call(value);
    const front = prefix(constructor, tag, 'Date');
    if (front !== 'Date ') base = `${front}${base}`;
    return based(base, keys, 'date');
  }
  if (types.isNativeError(value) || value instanceof Error) return based(formatError(value, constructor, tag, ctx, keys), keys);
  if (types.isAnyArrayBuffer(value)) {
    const name = types.isArrayBuffer(value) ? 'ArrayBuffer' : 'SharedArrayBuffer';
    const front = prefix(constructor, tag, name);
    if (isTyped && !isOpen(keys)) return `${front}{ byteLength: ${formatNumber(ctx.stylize, value.byteLength, false)} }`;
    return shape(`${front}{`, ['byteLength', ...keys], isTyped ? undefined : formatBytes);
  }
  if (types.isDataView(value)) return shape(open('DataView'), ['byteLength', 'byteOffset', 'buffer', ...keys]);
  if (types.isPromise(value)) return shape(open('Promise'), keys, formatPromise);
  if (types.isWeakSet(value)) return shape(open('WeakSet'), keys, formatUnknown);
  if (types.isWeakMap(value)) return shape(open('WeakMap'), keys, formatUnknown);
  if (isWeakRef(value)) return shape(open('WeakRef'), keys, formatWeakRef);
  if (types.isModuleNamespaceObject(value)) return shape(open('Module'), [], (...args) => formatNamespace(keys, ...args));
  if (types.isBoxedPrimitive(value)) return based(boxedBase(value, ctx, keys, constructor, tag), keys);
  if (!isOpen(keys)) return `${open('Object')}}`;
  return shape(open('Object'), keys);
}

// Arrays, sets, maps, typed arrays and the iterators of sets and maps; undefined for what is none of them.
function listShape(ctx, value, constructor, tag, isOpen, shape) {
  if (Array.isArray(value)) {
    const front = constructor !== 'Array' || tag !== '' ? prefix(constructor, tag, 'Array', `(${value.length})`) : '';
    const keys = keysButIndexes(value, ctx.showHidden);
    if (value.length === 0 && !isOpen(keys)) return `${front}[]`;
    return { base: '', braces: [`${front}[`, ']'], keys, format: formatArray, isList: true, fallback: 'Array' };
  }
  if (types.isSet(value)) {
    const size = sizeOfSet.call(value);
    const front = prefix(constructor, tag, 'Set', `(${size})`);
    const keys = keysOf(value, ctx.showHidden);
    if (size === 0 && !isOpen(keys)) return `${front}{}`;
    return shape(`${front}{`, keys, formatSet, { fallback: 'Set' });
  }
  if (types.isMap(value)) {
    const size = sizeOfMap.call(value);
    const front = prefix(constructor, tag, 'Map', `(${size})`);
    const keys = keysOf(value, ctx.showHidden);
    if (size === 0 && !isOpen(keys)) return `${front}{}`;
    return shape(`${front}{`, keys, formatMap, { fallback: 'Map' });
  }
  if (types.isTypedArray(value)) {
    // Own properties may have the names of the usual getters.
    const length = typedArrayLength(value);
    const keys = length > MANY ? Object.getOwnPropertySymbols(value) : keysButIndexes(value, ctx.showHidden);
    const front = prefix(constructor, tag, constructor === null ? typedArrayName(value) : '', `(${length})`);
    if (length === 0 && keys.length === 0 && !ctx.showHidden) return `${front}[]`;
    return { base: '', braces: [`${front}[`, ']'], keys, format: formatTypedArray, isList: true };
  }
  return undefined;
}

const COMMENTS = /(\/\/.*?\n)|(\/\*(.|\n)*?\*\/)/g;

function functionBase(value, constructor, tag) {
  const source = Function.prototype.toString.call(value);
  if (source.startsWith('class') && source.endsWith('}')) {
    const inside = source.slice(5, -1);
    const brace = inside.indexOf('{');
    if (brace !== -1 && (!inside.slice(0, brace).includes('(') ||
        /^(\s+[^(]*?)\s*{/.test(inside.replace(COMMENTS, '')))) {
      return classBase(value, constructor, tag, inside);
    }
  }
  let kind = 'Function';
  if (types.isGeneratorFunction(value)) kind = `Generator${kind}`;
  if (types.isAsyncFunction(value)) kind = `Async${kind}`;
  let base = `[${kind}${constructor === null ? ' (null prototype)' : ''}${value.name === '' ? ' (anonymous)' : `: ${value.name}`}]`;
  if (constructor !== kind && constructor !== null) base += ` ${constructor}`;
  if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
  return base;
}

function classBase(value, constructor, tag) {
  let base = `class ${(Object.hasOwn(value, 'name') && value.name) || '(anonymous)'}`;
  if (constructor !== 'Function' && constructor !== null) base += ` [${constructor}]`;
  if (tag !== '' && constructor !== tag) base += ` [${tag}]`;
  if (constructor === null) {
    base += ' extends [null prototype]';
  } else {
    const above = Object.getPrototypeOf(value).name;
    if (above) base += ` extends ${above}`;
  }
  return `[${base}]`;
}

function boxedBase(value, ctx, keys, constructor, tag) {
  let kind;
  if (types.isNumberObject(value)) kind = 'Number';
  else if (types.isStringObject(value)) kind = 'String';
  else if (types.isBooleanObject(value)) kind = 'Boolean';
  else kind = types.isBigIntObject(value) ? 'BigInt' : 'Symbol';
  const inner = globalThis[kind].prototype.valueOf.call(value);
  // The letters are told already.
  if (kind === 'String') keys.splice(0, inner.length);
  let base = `[${kind}`;
  if (kind !== constructor) base += constructor === null ? ' (null prototype)' : ` (${constructor})`;
  base += `: ${formatPrimitive(plain, inner, ctx)}]`;
  if (tag !== '' && tag !== constructor) base += ` [${tag}]`;
  return keys.length !== 0 || ctx.stylize === plain ? base : ctx.stylize(base, kind.toLowerCase());
}

function formatArray(ctx, value, depth) {
  const { length } = value;
  const count = shown(ctx, length);
  const entries = [];
  for (let i = 0; i < count; i++) {
    if (!Object.hasOwn(value, i)) return formatSparse(ctx, value, depth, count, entries, i);
    entries.push(formatProperty(ctx, value, depth, i, ELEMENT));
  }
  if (length > count) entries.push(more(length - count));
  return entries;
}

// Holes are counted, and each row of them is one entry.
function formatSparse(ctx, value, depth, count, entries, next) {
  const hole = (size) => ctx.stylize(`<${size} empty item${size > 1 ? 's' : ''}>`, 'undefined');
  const keys = Object.keys(value);
  for (let at = next; at < keys.length && entries.length < count; at++) {
    const key = keys[at];
    if (!isIndex(key)) break;
    if (`${next}` !== key) {
      entries.push(hole(key - next));
      next = Number(key);
      if (entries.length === count) break;
    }
    entries.push(formatProperty(ctx, value, depth, key, ELEMENT));
    next++;
  }
  const rest = value.length - next;
  if (rest > 0) entries.push(entries.length !== count ? hole(rest) : more(rest));
  return entries;
}

function formatTypedArray(ctx, value, depth) {
  const length = typedArrayLength(value);
  const count = shown(ctx, length);
  const format = length > 0 && typeof value[0] === 'bigint' ? formatBigInt : formatNumber;
  const entries = [];
  for (let i = 0; i < count; i++) entries.push(format(ctx.stylize, value[i], ctx.numericSeparator));
  if (length > count) entries.push(more(length - count));
  if (ctx.showHidden) {
    ctx.indentationLvl += 2;
    for (const key of ['BYTES_PER_ELEMENT', 'length', 'byteLength', 'byteOffset', 'buffer']) {
      entries.push(`[${key}]: ${formatValue(ctx, value[key], depth, true)}`);
    }
    ctx.indentationLvl -= 2;
  }
  return entries;
}

function formatBytes(ctx, buffer) {
  let bytes;
  try {
    bytes = new Uint8Array(buffer);
  } catch {
    return [ctx.stylize('(detached)', 'special')];
  }
  const count = shown(ctx, bytes.length);
  let text = Array.from(bytes.subarray(0, count), (byte) => byte.toString(16).padStart(2, '0')).join(' ');
  if (bytes.length > count) text += ` ${more(bytes.length - count, 'byte')}`;
  return [`${ctx.stylize('[Uint8Contents]', 'special')}: <${text}>`];
}

function formatSet(ctx, value, depth) {
  const size = sizeOfSet.call(value);
  const count = shown(ctx, size);
  const entries = [];
  ctx.indentationLvl += 2;
  for (const each of Set.prototype.values.call(value)) {
    if (entries.length >= count) break;
    entries.push(formatValue(ctx, each, depth));
  }
  if (size > count) entries.push(more(size - count));
  ctx.indentationLvl -= 2;
  return entries;
}

function formatMap(ctx, value, depth) {
  const size = sizeOfMap.call(value);
  const count = shown(ctx, size);
  const entries = [];
  ctx.indentationLvl += 2;
  for (const [key, each] of Map.prototype.entries.call(value)) {
    if (entries.length >= count) break;
    entries.push(`${formatValue(ctx, key, depth)} => ${formatValue(ctx, each, depth)}`);
  }
  if (size > count) entries.push(more(size - count));
  ctx.indentationLvl -= 2;
  return entries;
}

function formatPromise(ctx, value, depth) {
  const [state, result] = promiseDetails(value);
  if (state === 0) return [ctx.stylize('<pending>', 'special')];
  ctx.indentationLvl += 2;
  const text = formatValue(ctx, result, depth);
  ctx.indentationLvl -= 2;
  return [state === 2 ? `${ctx.stylize('<rejected>', 'special')} ${text}` : text];
}

const formatUnknown = (ctx) => [ctx.stylize('<items unknown>', 'special')];

function formatWeakRef(ctx, value, depth) {
  ctx.indentationLvl += 2;
  const text = formatValue(ctx, value.deref(), depth);
  ctx.indentationLvl -= 2;
  return [text];
}

function formatNamespace(keys, ctx, value, depth) {
  return keys.map((key) => {
    try {
      return formatProperty(ctx, value, depth, key, PROPERTY);
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      // A binding whose module has not run so far.
      const name = formatProperty(ctx, { [key]: '' }, depth, key, PROPERTY);
      return `${name.slice(0, name.lastIndexOf(' '))} ${ctx.stylize('<uninitialized>', 'special')}`;
    }
  });
}

function formatProxy(ctx, [target, handler], depth) {
  if (depth > ctx.depth && ctx.depth !== null) return ctx.stylize('Proxy [Array]', 'special');
  depth++;
  ctx.indentationLvl += 2;
  const entries = [formatValue(ctx, target, depth), formatValue(ctx, handler, depth)];
  ctx.indentationLvl -= 2;
  return require('internal/layout').layOut(ctx, entries, '', ['Proxy [', ']'], true, depth);
}

module.exports = { shapeOf, formatProxy };
