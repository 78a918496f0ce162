// The frames of a trace as Node gives them to Error.prepareStackTrace.
'use strict';

const { columnOf } = require('errors');

class CallSite {
  #site;

  constructor(site) {
    this.#site = site;
  }

  getThis() { return undefined; }

  getTypeName() { return 'Object'; }

  getFunction() { return this.#site.getFunction(); }

  getFunctionName() { return this.#site.getFunctionName() || null; }

  getMethodName() { return null; }

  getFileName() { return this.#site.getFileName() ?? undefined; }

  getLineNumber() { return this.#site.getLineNumber(); }

  getColumnNumber() { return columnOf(this.#site, this.#site.getFileName(), this.#site.getLineNumber()); }

  getEvalOrigin() { return undefined; }

  getScriptNameOrSourceURL() { return this.getFileName(); }

  getScriptHash() { return ''; }

  getEnclosingLineNumber() { return this.getLineNumber(); }

  getEnclosingColumnNumber() { return this.getColumnNumber(); }

  getPosition() { return 0; }

  getPromiseIndex() { return null; }

  isToplevel() { return true; }

  isEval() { return this.#site.getFunctionName() === '<eval>'; }

  isNative() { return this.#site.isNative(); }

  isConstructor() { return false; }

  isAsync() { return false; }

  isPromiseAll() { return false; }

  toString() {
    const place = this.isNative() ? 'native' : `${this.getFileName()}:${this.getLineNumber()}:${this.getColumnNumber()}`;
    const name = this.getFunctionName();
    return name === null ? place : `${name} (${place})`;
  }
}

// What the script's function makes of the frames.
function prepare(byScript, error, sites) {
  return byScript.call(Error, error, sites.map((site) => new CallSite(site)));
}

module.exports = { prepare };
