// Stack traces that begin with name and message.
'use strict';

// The engine's traces have frames only; scripts expect name and message in front.
let prepareByScript;

function header(error) {
  try {
    const { name = 'Error', message = '' } = error;
    return message === '' ? String(name) : name === '' ? String(message) : `${name}: ${message}`;
  } catch {
    return 'Error';
  }
}

function frame(site) {
  const file = site.getFileName();
  const place = file === null ? 'native' : `${file}:${site.getLineNumber()}:${site.getColumnNumber()}`;
  const name = site.getFunctionName();
  return name && name !== '<anonymous>' && name !== '<eval>' ? `\n    at ${name} (${place})` : `\n    at ${place}`;
}

function prepare(error, sites) {
  if (typeof prepareByScript === 'function') return prepareByScript.call(Error, error, sites);
  let text = header(error);
  for (const site of sites) text += frame(site);
  return text;
}

function install() {
  const own = Object.getOwnPropertyDescriptor(Error, 'prepareStackTrace');
  own.set.call(Error, prepare);
  Object.defineProperty(Error, 'prepareStackTrace', {
    get: () => prepareByScript,
    set: (value) => { prepareByScript = value; },
    enumerable: false,
    configurable: true,
  });
}

// The errors with a code are many, and most scripts throw none.
const internal = () => require('internal/codes');

module.exports = {
  install,
  get codes() { return internal().codes; },
  get make() { return internal().make; },
};
