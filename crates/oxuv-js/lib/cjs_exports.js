// The names that a CommonJS module exports, found in its text: an ES module that imports from it must know them before it
// runs.
'use strict';

const files = binding('files');
const { absolute, asFileOrFolder, dirname, inNodeModules } = require('resolve');

const NAME = '[A-Za-z_$][\\w$]*';
const ASSIGN = new RegExp(`\\b(?:module\\.)?exports\\.(${NAME})\\s*=(?!=)`, 'g');
const ASSIGN_TEXT = /\b(?:module\.)?exports\[\s*(['"])((?:(?!\1).)*)\1\s*\]\s*=(?!=)/g;
const DEFINE = /\bObject\.defineProperty\(\s*(?:module\.)?exports\s*,\s*(['"])((?:(?!\1).)*)\1\s*,\s*\{\s*(?:enumerable\s*:\s*(?:true|!0)\s*,\s*)?(?:value|get)\b/g;
const OBJECT = /\bmodule\.exports\s*=\s*\{([^}]*)/g;
const REEXPORT = /\bmodule\.exports\s*=\s*require\(\s*(['"])((?:(?!\1).)*)\1\s*\)/g;
const REEXPORT_ALL = /\b__exportStar\(\s*require\(\s*(['"])((?:(?!\1).)*)\1\s*\)/g;

const known = new Map();

function exportsOf(path) {
  const cached = known.get(path);
  if (cached !== undefined) return cached;
  const names = new Set();
  known.set(path, names);
  if (!/\.c?js$/.test(path)) return names;
  const text = withoutComments(files.readText(path));
  for (const [, name] of text.matchAll(ASSIGN)) names.add(name);
  for (const [, , name] of text.matchAll(ASSIGN_TEXT)) names.add(name);
  for (const [, , name] of text.matchAll(DEFINE)) names.add(name);
  for (const [, body] of text.matchAll(OBJECT)) literal(body, path, names);
  for (const [, , name] of [...text.matchAll(REEXPORT), ...text.matchAll(REEXPORT_ALL)]) add(name, path, names);
  return names;
}

// The names in an object literal, up to the first that is more than a name or a name with a simple value.
function literal(body, path, names) {
  for (const part of body.split(',')) {
    const spread = /^\s*\.\.\.\s*require\(\s*(['"])(.*?)\1\s*\)\s*$/.exec(part);
    const simple = new RegExp(`^\\s*(?:(${NAME})|(['"])(.*?)\\2)\\s*(?::\\s*[^({\\[]*)?$`).exec(part);
    const method = new RegExp(`^\\s*(?:async\\s+)?(?:get\\s+)?(${NAME})\\s*(?::|\\()`).exec(part);
    if (spread) add(spread[2], path, names);
    else if (simple) names.add(simple[1] ?? simple[3]);
    else if (method) { names.add(method[1]); return; } else if (part.trim() !== '') return;
  }
}

// What `require(name)` in the module at `path` exports.
function add(name, path, names) {
  const folder = dirname(path);
  const extensions = ['.js', '.json', '.node'];
  let found;
  try {
    found = /^(\/|\.\.?(\/|$))/.test(name) ? asFileOrFolder(absolute(name, folder), extensions, false) :
      inNodeModules(name, folder, new Set(['node', 'require']), path, (place) => asFileOrFolder(`${place}/${name}`, extensions, false));
  } catch { /* It says so when it is required. */ }
  if (found === undefined) return;
  for (const each of exportsOf(files.realPath(found))) names.add(each);
}

// Comments may hold what looks like code; strings stay, since they hold names.
function withoutComments(text) {
  return text.replace(/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\/[^\n]*|\/\*.*?\*\//gs, (all, text) => text ?? ' ');
}

module.exports = exportsOf;
