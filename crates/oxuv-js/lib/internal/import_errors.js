// What goes wrong with imports, said with file, line and column.
'use strict';

const files = binding('files');
const { addFrame, sources } = require('errors');
const { packageOf } = require('resolve');

function textOf(base) {
  if (sources.has(base)) return sources.get(base);
  try {
    return files.readText(base.startsWith('file://') ? require('esm').toPath(base) : base);
  } catch {
    return undefined;
  }
}

const quoted = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

// `file:line:column` of a place in a text.
function placeAt(base, text, index) {
  const before = text.slice(0, index);
  const line = before.split('\n').length;
  return `${base}:${line}:${index - before.lastIndexOf('\n')}`;
}

// Where a module or script imports this specifier; undefined if that is not plainly there.
function placeOf(base, specifier) {
  const text = textOf(base);
  const match = text && new RegExp(`(?:\\bfrom|\\bimport)\\s*\\(?\\s*(['"\`])${quoted(specifier)}\\1`).exec(text);
  return match ? placeAt(base, text, match.index + match[0].length - specifier.length - 2) : undefined;
}

// Where a module imports this name by this specifier.
function placeOfName(base, specifier, name) {
  const text = textOf(base);
  if (!text) return undefined;
  const clauses = new RegExp(`\\b(?:import|export)\\b([^'"\`;]*?)\\bfrom\\s*(['"])${quoted(specifier)}\\2`, 'g');
  for (const match of text.matchAll(clauses)) {
    const found = new RegExp(`(?<![\\w$])${quoted(name)}(?![\\w$])`).exec(match[0]);
    if (found) return placeAt(base, text, match.index + found.index);
  }
  return undefined;
}

const MISSING = /^Could not find export '(.*)' in module '(.*)'$/;
const NO_MODULE_SCOPE = /^(require|module|exports|__filename|__dirname) is not defined$/;

// The error, with what Node says in such a case.
function explained(error, imports) {
  if (error instanceof SyntaxError) {
    const [, name, url] = MISSING.exec(error.message) ?? [];
    if (url !== undefined) explainMissing(error, name, url, imports);
  } else if (error instanceof ReferenceError && NO_MODULE_SCOPE.test(error.message)) {
    explainScope(error);
  }
  return error;
}

function explainMissing(error, name, url, imports) {
  for (const { base, specifier, url: found } of imports) {
    if (found !== url && `import ${found}` !== url) continue;
    const place = placeOfName(base, specifier, name);
    if (place === undefined) continue;
    const isCommonJs = url.endsWith('.cjs') || (url.endsWith('.js') && Object.hasOwn(require('modules')._cache, require('esm').toPath(url)));
    error.message = isCommonJs ?
      `Named export '${name}' not found. The requested module '${specifier}' is a CommonJS module, which may not support all module.exports ` +
      'as named exports.\nCommonJS modules can always be imported via the default export, for example using:\n\n' +
      `import pkg from '${specifier}';\nconst { ${name} } = pkg;\n` :
      `The requested module '${specifier}' does not provide an export named '${name}'`;
    error.stack = `SyntaxError: ${error.message}`;
    addFrame(error, place);
    return;
  }
}

function explainScope(error) {
  const frames = String(error.stack).slice(error.stack.indexOf('\n    at '));
  error.message += ' in ES module scope';
  if (error.message.startsWith('require ')) error.message += ', you can use import instead';
  const path = /\n {4}at (?:[^\n]*\()?file:\/\/([^\n]*?\.js):\d+:\d+/.exec(frames)?.[1];
  const found = path && packageOf(decodeURIComponent(path));
  if (found?.type === 'module') {
    error.message += `\nThis file is being treated as an ES module because it has a '.js' file extension and '${found.path}' contains ` +
      '"type": "module". To treat it as a CommonJS script, rename it to use the \'.cjs\' file extension.';
  }
  error.stack = `ReferenceError: ${error.message}${frames}`;
}

module.exports = { placeOf, explained };
