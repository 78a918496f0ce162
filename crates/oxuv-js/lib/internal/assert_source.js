// The text of a failed call of `assert`, from the source of the script.
'use strict';

// Where the caller of the function stands.
function placeAbove(above) {
  const before = Error.prepareStackTrace;
  const limit = Error.stackTraceLimit;
  const holder = {};
  try {
    Error.stackTraceLimit = 1;
    Error.prepareStackTrace = (_, sites) => sites;
    Error.captureStackTrace(holder, above);
    const [site] = holder.stack;
    return { file: site.getFileName(), line: site.getLineNumber(), column: site.getColumnNumber() };
  } catch {
    return undefined;
  } finally {
    Error.prepareStackTrace = before;
    Error.stackTraceLimit = limit;
  }
}

// The end of a text in quotes, a comment or nothing of these, at its place.
function skipText(source, at) {
  const quote = source[at];
  if (quote === '/' && source[at + 1] === '/') return source.indexOf('\n', at);
  if (quote === '/' && source[at + 1] === '*') return source.indexOf('*/', at) + 1;
  if (quote !== "'" && quote !== '"' && quote !== '`') return at;
  for (let i = at + 1; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === quote) return i;
  }
  return source.length;
}

// The call around a place: from the name to the bracket that closes it.
function callAround(source, place) {
  const CALL = /[\w$]+(?:\s*\.\s*[\w$]+)*\s*\(/g;
  CALL.lastIndex = Math.max(source.lastIndexOf('\n', place - 1), 0);
  let found;
  for (let match; (match = CALL.exec(source)) !== null && match.index <= place;) found = match;
  if (found === undefined) return undefined;
  let depth = 0;
  for (let i = found.index + found[0].length - 1; i >= 0 && i < source.length; i++) {
    const past = skipText(source, i);
    if (past < i) return undefined;
    if (past > i) { i = past; continue; }
    if ('([{'.includes(source[i])) depth++;
    else if (')]}'.includes(source[i]) && --depth === 0) return { start: found.index, text: source.slice(found.index, i + 1) };
  }
  return undefined;
}

function describeCall(above) {
  const place = placeAbove(above);
  if (place === undefined || typeof place.file !== 'string' || !place.file.startsWith('/')) return undefined;
  let source;
  try {
    source = binding('files').readText(place.file);
  } catch {
    return undefined;
  }
  const lines = source.split('\n');
  let offset = place.column - 1;
  for (let i = 0; i < place.line - 1; i++) offset += lines[i].length + 1;
  const call = callAround(source, offset);
  if (call === undefined) return undefined;
  // Lines that follow stand in the script further right.
  const indent = call.start - (source.lastIndexOf('\n', call.start - 1) + 1);
  const text = call.text.split('\n').map((line, i) => (i === 0 ? line : line.replace(new RegExp(`^\\s{0,${indent}}`), ''))).join('\n  ');
  return `The expression evaluated to a falsy value:\n\n  ${text}\n`;
}

module.exports = { describeCall };
