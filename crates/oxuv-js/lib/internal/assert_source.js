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

// The end of the call whose bracket opens here; -1 if there is none.
function endOfCall(source, open) {
  let depth = 0;
  for (let i = open; i < source.length; i++) {
    const past = skipText(source, i);
    if (past < i) return -1;
    if (past > i) i = past;
    else if ('([{'.includes(source[i])) depth++;
    else if (')]}'.includes(source[i]) && --depth === 0) return i + 1;
  }
  return -1;
}

const CALL = /([\w$]+)(?:\s*\.\s*([\w$]+))*\s*\(/g;
// As far back as a call begins that is spread over lines.
const FAR = 4000;

// The call that a place is in, from its name to the bracket that closes it. The place is that of the last thing done before the
// call: calls in its arguments end before it, or are named otherwise.
function callAround(source, place) {
  CALL.lastIndex = Math.max(0, source.lastIndexOf('\n', Math.max(0, place - FAR)));
  let found;
  for (let match; (match = CALL.exec(source)) !== null && match.index <= place;) {
    const isAssert = /^(?:assert|ok|strict)$/.test(match[2] ?? match[1]);
    if (found?.isAssert && !isAssert) continue;
    const end = endOfCall(source, match.index + match[0].length - 1);
    if (end > place) found = { start: match.index, text: source.slice(match.index, end), isAssert };
  }
  return found;
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
