// Children whose output is collected.
'use strict';

const { codes } = require('internal/codes');
const options = require('internal/child_options');

const { isGiven } = options;
const DEFAULTS = {
  encoding: 'utf8', timeout: 0, maxBuffer: 1024 * 1024, killSignal: 'SIGTERM', cwd: null, env: null, shell: false,
};

// The arguments of `execFile`, any of which but the file may be missing.
function sort(file, args, given, callback) {
  if (isGiven(args) && typeof args === 'object' && Array.isArray(args)) {
    args = [...args];
  } else if (isGiven(args) && typeof args === 'object') {
    [args, given, callback] = [null, args, given];
  } else if (typeof args === 'function') {
    [args, given, callback] = [null, null, args];
  }
  args ??= [];
  if (!Array.isArray(args)) throw new codes.ERR_INVALID_ARG_TYPE('args', 'object', args);
  if (typeof given === 'function') [given, callback] = [null, given];
  if (isGiven(given)) require('internal/validators').validateObject(given, 'options');
  if (isGiven(callback)) require('internal/validators').validateFunction(callback, 'callback');
  // A name is told apart from its missing only here.
  if (given?.argv0 !== undefined && given.argv0 !== null) require('internal/validators').validateString(given.argv0, 'options.argv0');
  return { file, args, given: { ...given }, callback };
}

// What one of the child's streams has said, up to so many bytes.
class Output {
  chunks = [];
  #length = 0;
  #stream;

  constructor(stream, encoding, most, onTooMuch) {
    this.#stream = stream;
    if (encoding) stream.setEncoding(encoding);
    stream.on('data', (chunk) => {
      const now = stream.readableEncoding;
      const length = now ? Buffer.byteLength(chunk, now) : chunk.length;
      this.#length += length;
      if (this.#length > most) {
        this.chunks.push(chunk.slice(0, most - (this.#length - length)));
        onTooMuch();
      } else {
        this.chunks.push(chunk);
      }
    });
  }

  get value() { return this.#stream.readableEncoding ? this.chunks.join('') : Buffer.concat(this.chunks); }
}

class Execution {
  #wanted;
  #callback;
  #child;
  #encoding;
  #outputs = [];
  #error = null;
  #isKilled = false;
  #isOver = false;
  #timer;
  #command;

  constructor(file, args, wanted, callback) {
    this.#wanted = wanted;
    this.#callback = callback;
    this.#encoding = wanted.encoding !== 'buffer' && Buffer.isEncoding(wanted.encoding) ? wanted.encoding : null;
    this.#command = args.length > 0 ? `${file} ${args.join(' ')}` : file;
  }

  follow(child) {
    this.#child = child;
    if (this.#wanted.timeout > 0) {
      this.#timer = setTimeout(() => this.#kill(), this.#wanted.timeout);
    }
    for (const name of ['stdout', 'stderr']) {
      this.#outputs.push(child[name] && new Output(child[name], this.#encoding, this.#wanted.maxBuffer, () => {
        this.#error = new codes.ERR_CHILD_PROCESS_STDIO_MAXBUFFER(name);
        this.#kill();
      }));
    }
    child.addListener('close', (code, signal) => this.#finish(code, signal));
    child.addListener('error', (error) => this.#fail(error));
  }

  #closeOutputs() {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #kill() {
    this.#closeOutputs();
    this.#isKilled = true;
    try {
      this.#child.kill(this.#wanted.killSignal);
    } catch (error) {
      this.#error = error;
      this.#finish();
    }
  }

  #fail(error) {
    this.#error = error;
    this.#closeOutputs();
    this.#finish();
  }

  #finish(code = 0, signal = null) {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (!this.#callback) return;
    const [out, err] = this.#outputs.map((output) => (output ? output.value : this.#encoding ? '' : Buffer.alloc(0)));
    if (!this.#error && code === 0 && signal === null) {
      this.#callback(null, out, err);
      return;
    }
    this.#error ??= Object.assign(new Error(`Command failed: ${this.#command}\n${err}`), {
      code: code < 0 ? require('util').getSystemErrorName(code) : code, killed: this.#child.killed || this.#isKilled, signal,
    });
    this.#error.cmd = this.#command;
    this.#callback(this.#error, out, err);
  }
}

function execFile(file, ...rest) {
  const { args, given, callback } = sort(file, ...rest);
  const wanted = { ...DEFAULTS, ...given };
  options.validateTimeout(wanted.timeout);
  options.validateMaxBuffer(wanted.maxBuffer);
  wanted.killSignal = options.killSignal(wanted.killSignal);
  const { cwd, env, gid, uid, shell, signal, windowsHide, windowsVerbatimArguments, argv0 } = wanted;
  const execution = new Execution(file, args, wanted, callback);
  const child = require('child_process').spawn(file, args, {
    cwd, env, gid, uid, shell, signal, windowsHide: Boolean(windowsHide),
    windowsVerbatimArguments: Boolean(windowsVerbatimArguments), ...(argv0 === undefined ? undefined : { argv0 }),
  });
  execution.follow(child);
  return child;
}

function exec(command, given, callback) {
  if (typeof given === 'function') [given, callback] = [undefined, given];
  const wanted = { ...given, shell: typeof given?.shell === 'string' ? given.shell : true };
  return require('child_process').execFile(command, wanted, callback);
}

// A promise of both outputs; it also has the child.
const promised = (method) => (...args) => {
  const { promise, resolve, reject } = Promise.withResolvers();
  promise.child = method(...args, (error, stdout, stderr) => {
    if (error === null) resolve({ stdout, stderr });
    else reject(Object.assign(error, { stdout, stderr }));
  });
  return promise;
};
for (const method of [exec, execFile]) {
  const { custom } = require('util').promisify;
  Object.defineProperty(method, custom, { value: promised(method), enumerable: false, configurable: true, writable: true });
}

module.exports = { exec, execFile };
