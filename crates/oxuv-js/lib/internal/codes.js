// The errors with a code that the library throws: each a function that makes one, `new` or not. Made when first used.
'use strict';

const inspect = (value, options) => require('internal/inspect').inspect(value, options);

const lists = { or: (words) => list(words, 'or'), and: (words) => list(words, 'and') };
function list(words, last) {
  if (words.length === 0) return '';
  if (words.length === 1) return `${words[0]}`;
  if (words.length === 2) return `${words[0]} ${last} ${words[1]}`;
  return `${words.slice(0, -1).join(', ')}, ${last} ${words.at(-1)}`;
}

// How a value that was not wanted is told of.
function kindOf(value) {
  if (value === null || value === undefined) return `${value}`;
  if (typeof value === 'function' && value.name) return `function ${value.name}`;
  if (typeof value === 'object') {
    if (value.constructor?.name) return `an instance of ${value.constructor.name}`;
    return inspect(value, { depth: -1 });
  }
  let text = inspect(value, { colors: false });
  if (text.length > 28) text = `${text.slice(0, 25)}...`;
  return `type ${typeof value} (${text})`;
}

const PRIMITIVES = new Set(['string', 'function', 'number', 'object', 'Function', 'Object', 'boolean', 'bigint', 'symbol']);

function invalidArgType(name, expected, actual) {
  const primitives = [];
  const classes = [];
  const others = [];
  for (const kind of Array.isArray(expected) ? expected : [expected]) {
    if (PRIMITIVES.has(kind)) primitives.push(kind.toLowerCase());
    else if (/^([A-Z][a-z0-9]*)+$/.test(kind)) classes.push(kind);
    else others.push(kind);
  }
  // Beside classes, an object is one more class.
  if (classes.length > 0 && primitives.includes('object')) {
    primitives.splice(primitives.indexOf('object'), 1);
    classes.push('Object');
  }
  const wanted = [];
  if (primitives.length > 0) wanted.push(`${primitives.length > 1 ? 'one of type' : 'of type'} ${lists.or(primitives)}`);
  if (classes.length > 0) wanted.push(`an instance of ${lists.or(classes)}`);
  if (others.length > 1) wanted.push(`one of ${lists.or(others)}`);
  else if (others.length === 1) wanted.push(others[0].toLowerCase() === others[0] ? others[0] : `an ${others[0]}`);
  const what = name.endsWith(' argument') ? name : `"${name}" ${name.includes('.') ? 'property' : 'argument'}`;
  return `The ${what} must be ${wanted.join(' or ')}. Received ${kindOf(actual)}`;
}

function invalidArgValue(name, value, reason = 'is invalid') {
  let text = inspect(value);
  if (text.length > 128) text = `${text.slice(0, 128)}...`;
  return `The ${name.includes('.') ? 'property' : 'argument'} '${name}' ${reason}. Received ${text}`;
}

const inThousands = (text) => text.replace(/\B(?=(\d{3})+$)/g, '_');

function outOfRange(name, range, value, isWhole = false) {
  let text;
  if (Number.isInteger(value) && Math.abs(value) > 2 ** 32) text = inThousands(String(value));
  else if (typeof value === 'bigint') text = `${value > 2n ** 32n || value < -(2n ** 32n) ? inThousands(String(value)) : value}n`;
  else text = inspect(value);
  return `${isWhole ? name : `The value of "${name}" is out of range.`} It must be ${range}. Received ${text}`;
}

function invalidReturnValue(expected, name, value) {
  const kind = typeof value === 'object' && value?.constructor?.name ? `an instance of ${value.constructor.name}` : kindOf(value);
  return `Expected ${expected} to be returned from the "${name}" function but got ${kind}.`;
}

function missingArgs(...names) {
  const quoted = names.map((name) => (Array.isArray(name) ? name.map((each) => `"${each}"`).join(' or ') : `"${name}"`));
  return `The ${lists.and(quoted)} argument${names.length > 1 ? 's' : ''} must be specified`;
}

const E = Error, T = TypeError, R = RangeError;

// Code: class, and the message or what makes it.
const table = {
  ERR_AMBIGUOUS_ARGUMENT: [T, (name, why) => `The "${name}" argument is ambiguous. ${why}`],
  ERR_ARG_NOT_ITERABLE: [T, (what) => `${what} must be iterable`],
  ERR_ASYNC_CALLBACK: [T, (name) => `${name} must be a function`],
  ERR_ASYNC_TYPE: [T, (type) => `Invalid name for async "type": ${type}`],
  ERR_BUFFER_OUT_OF_BOUNDS: [R, (name) => (name ? `"${name}" is outside of buffer bounds` : 'Attempt to access memory outside buffer bounds')],
  ERR_CHILD_CLOSED_BEFORE_REPLY: [E, 'Child closed before reply received'],
  ERR_CHILD_PROCESS_IPC_REQUIRED: [E, (name) => `Forked processes must have an IPC channel, missing value 'ipc' in ${name}`],
  ERR_CHILD_PROCESS_STDIO_MAXBUFFER: [R, (name) => `${name} maxBuffer length exceeded`],
  ERR_CLOSED_MESSAGE_PORT: [E, 'Cannot send data on closed MessagePort'],
  ERR_CONSOLE_WRITABLE_STREAM: [T, (name) => `Console expects a writable stream instance for ${name}`],
  ERR_CONSTRUCT_CALL_INVALID: [T, 'Constructor cannot be called'],
  ERR_CONSTRUCT_CALL_REQUIRED: [T, (name) => `Class constructor ${name} cannot be invoked without \`new\``],
  ERR_DIR_CLOSED: [E, 'Directory handle was closed'],
  ERR_DIR_CONCURRENT_OPERATION: [E, 'Cannot do synchronous work on directory handle with concurrent asynchronous operations'],
  ERR_ENCODING_INVALID_ENCODED_DATA: [T, (encoding) => `The encoded data was not valid for encoding ${encoding}`],
  ERR_ENCODING_NOT_SUPPORTED: [R, (encoding) => `The "${encoding}" encoding is not supported`],
  ERR_EVENT_RECURSION: [E, (type) => `The event "${type}" is already being dispatched`],
  ERR_FALSY_VALUE_REJECTION: [E, 'Promise was rejected with falsy value'],
  ERR_FEATURE_UNAVAILABLE_ON_PLATFORM: [T, (name) => `The feature ${name} is unavailable on the current platform, which is being used to run Node.js`],
  ERR_FS_FILE_TOO_LARGE: [R, (size) => `File size (${size}) is greater than 2 GiB`],
  ERR_FS_INVALID_SYMLINK_TYPE: [E, (type) => `Symlink type must be one of "dir", "file", or "junction". Received "${type}"`],
  ERR_HTTP_CONTENT_LENGTH_MISMATCH: [E, (actual, expected) => `Response body's content-length of ${actual} byte(s) does not match the content-length of ${expected} byte(s) set in header`],
  ERR_HTTP_HEADERS_SENT: [E, (what) => `Cannot ${what} headers after they are sent to the client`],
  ERR_HTTP_INVALID_HEADER_VALUE: [T, (value, name) => require('internal/format').format('Invalid value "%s" for header "%s"', value, name)],
  ERR_HTTP_INVALID_STATUS_CODE: [R, (status) => require('internal/format').format('Invalid status code: %s', status)],
  ERR_HTTP_REQUEST_TIMEOUT: [E, 'Request timeout'],
  ERR_HTTP_SOCKET_ASSIGNED: [E, 'ServerResponse has an already assigned socket'],
  ERR_HTTP_SOCKET_ENCODING: [E, 'Changing the socket encoding is not allowed per RFC7230 Section 3.'],
  ERR_HTTP_TRAILER_INVALID: [E, 'Trailers are invalid with this transfer encoding'],
  ERR_ILLEGAL_CONSTRUCTOR: [T, 'Illegal constructor'],
  ERR_INCOMPATIBLE_OPTION_PAIR: [T, (one, other) => `Option "${one}" cannot be used in combination with option "${other}"`],
  ERR_INVALID_ADDRESS: [E, 'Invalid address'],
  ERR_INVALID_ADDRESS_FAMILY: [R, (family, host, port) => `Invalid address family: ${family} ${host}:${port}`],
  ERR_INTERNAL_ASSERTION: [E, (message) => `${message}\nThis is caused by incorrect usage of the internals of oxuv.\n`],
  ERR_INVALID_ARG_TYPE: [T, invalidArgType],
  ERR_INVALID_ARG_VALUE: [T, invalidArgValue],
  ERR_INVALID_ARG_VALUE_RANGE: [R, invalidArgValue, 'ERR_INVALID_ARG_VALUE'],
  ERR_INVALID_ASYNC_ID: [R, (name, id) => `Invalid ${name} value: ${id}`],
  ERR_INVALID_BUFFER_SIZE: [R, (size) => `Buffer size must be a multiple of ${size}`],
  ERR_INVALID_CALLBACK: [T, (value) => `Callback must be a function. Received ${inspect(value)}`],
  ERR_INVALID_CHAR: [T, (name, field) => `Invalid character in ${name}${field === undefined ? '' : ` ["${field}"]`}`],
  ERR_INVALID_FD_TYPE: [T, (kind) => `Unsupported fd type: ${kind}`],
  ERR_INVALID_CURSOR_POS: [T, 'Cannot set cursor row without setting its column'],
  ERR_INVALID_FD: [R, (fd) => `"fd" must be a positive integer: ${fd}`],
  ERR_INVALID_FILE_URL_HOST: [T, (platform) => `File URL host must be "localhost" or empty on ${platform}`],
  ERR_INVALID_FILE_URL_PATH: [T, (why) => `File URL path ${why}`],
  ERR_INVALID_HANDLE_TYPE: [T, 'This handle type cannot be sent'],
  ERR_INVALID_HTTP_TOKEN: [T, (name, token) => `${name} must be a valid HTTP token ["${String(token)}"]`],
  ERR_INVALID_IP_ADDRESS: [T, (address) => `Invalid IP address: ${address}`],
  ERR_INVALID_MODULE_SPECIFIER: [T, (name, why, base) => `Invalid module "${name}" ${why}${base ? ` imported from ${base}` : ''}`],
  ERR_INVALID_OBJECT_DEFINE_PROPERTY: [T, (message) => message],
  ERR_INVALID_PACKAGE_CONFIG: [E, (path, base, why) => `Invalid package config ${path}${base ? ` while importing ${base}` : ''}${why ? `. ${why}` : ''}`],
  ERR_INVALID_PROTOCOL: [T, (actual, expected) => `Protocol "${actual}" not supported. Expected "${expected}"`],
  ERR_INVALID_RETURN_VALUE: [T, invalidReturnValue],
  ERR_INVALID_STATE: [E, (why) => `Invalid state: ${why}`],
  ERR_INVALID_SYNC_FORK_INPUT: [T, (input) => `Asynchronous forks do not support Buffer, TypedArray, DataView or string input: ${input}`],
  ERR_INVALID_THIS: [T, (type) => `Value of "this" must be of type ${type}`],
  ERR_INVALID_TRANSFER_OBJECT: [T, 'Found invalid object in transferList'],
  ERR_INVALID_TUPLE: [T, (name, what) => `${name} must be an iterable ${what} tuple`],
  ERR_INVALID_URI: [URIError, 'URI malformed'],
  ERR_INVALID_URL: [T, 'Invalid URL'],
  ERR_INVALID_URL_SCHEME: [T, (expected) => `The URL must be ${lists.or([expected].flat().map((scheme) => `of scheme ${scheme}`))}`],
  ERR_IPC_CHANNEL_CLOSED: [E, 'Channel closed'],
  ERR_IPC_DISCONNECTED: [E, 'IPC channel is already disconnected'],
  ERR_IPC_ONE_PIPE: [E, 'Child process can have only one IPC pipe'],
  ERR_IPC_SYNC_FORK: [E, 'IPC cannot be used with synchronous forks'],
  ERR_METHOD_NOT_IMPLEMENTED: [E, (name) => `The ${name} method is not implemented`],
  ERR_MISSING_ARGS: [T, missingArgs],
  ERR_MISSING_TRANSFERABLE_IN_TRANSFER_LIST: [T, 'Object that needs transfer was found in message but not listed in transferList'],
  ERR_MODULE_NOT_FOUND: [E, (path, base, what = 'package') => `Cannot find ${what} '${path}' imported from ${base}`],
  ERR_MULTIPLE_CALLBACK: [E, 'Callback called multiple times'],
  ERR_OPERATION_FAILED: [E, (why) => `Operation failed: ${why}`],
  ERR_OUT_OF_RANGE: [R, outOfRange],
  ERR_PACKAGE_PATH_NOT_EXPORTED: [E, (path, sub, base) => (sub === '.'
    ? `No "exports" main defined in ${path}package.json${base ? ` imported from ${base}` : ''}`
    : `Package subpath '${sub}' is not defined by "exports" in ${path}package.json${base ? ` imported from ${base}` : ''}`)],
  ERR_PARSE_ARGS_INVALID_OPTION_VALUE: [T, (message) => message],
  ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL: [T, (word) => `Unexpected argument '${word}'. This command does not take positional arguments`],
  ERR_PARSE_ARGS_UNKNOWN_OPTION: [T, (option, allows) => `Unknown option '${option}'${allows
    ? `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${option}"` : ''}`],
  ERR_PERFORMANCE_INVALID_TIMESTAMP: [T, (value) => `${value} is not a valid timestamp`],
  ERR_REQUIRE_ESM: [E, (path) => `require() of ES Module ${path} not supported.\nInstead change the require of ${path} to a dynamic import() which is available in all CommonJS modules.`],
  ERR_SERVER_ALREADY_LISTEN: [E, 'Listen method has been called more than once without closing.'],
  ERR_SERVER_NOT_RUNNING: [E, 'Server is not running.'],
  ERR_SOCKET_ALREADY_BOUND: [E, 'Socket is already bound'],
  ERR_SOCKET_BAD_BUFFER_SIZE: [T, 'Buffer size must be a positive integer'],
  ERR_SOCKET_BAD_TYPE: [T, 'Bad socket type specified. Valid types are: udp4, udp6'],
  ERR_SOCKET_DGRAM_IS_CONNECTED: [E, 'Already connected'],
  ERR_SOCKET_DGRAM_NOT_CONNECTED: [E, 'Not connected'],
  ERR_SOCKET_DGRAM_NOT_RUNNING: [E, 'Not running'],
  ERR_SOCKET_BAD_PORT: [R, (name, port, allowsZero = true) => `${name} should be ${allowsZero ? '>=' : '>'} 0 and < 65536. Received ${kindOf(port)}.`],
  ERR_SOCKET_CLOSED: [E, 'Socket is closed'],
  ERR_SOCKET_CLOSED_BEFORE_CONNECTION: [E, 'Socket closed before the connection was established'],
  ERR_STREAM_ALREADY_FINISHED: [E, (name) => `Cannot call ${name} after a stream was finished`],
  ERR_STREAM_CANNOT_PIPE: [E, 'Cannot pipe, not readable'],
  ERR_STREAM_DESTROYED: [E, (name) => `Cannot call ${name} after a stream was destroyed`],
  ERR_STREAM_NULL_VALUES: [T, 'May not write null values to stream'],
  ERR_STREAM_PREMATURE_CLOSE: [E, 'Premature close'],
  ERR_STREAM_PUSH_AFTER_EOF: [E, 'stream.push() after EOF'],
  ERR_STREAM_UNSHIFT_AFTER_END_EVENT: [E, 'stream.unshift() after end event'],
  ERR_STREAM_WRITE_AFTER_END: [E, 'write after end'],
  ERR_TTY_INIT_FAILED: [E, ({ syscall, code, message }) => `TTY initialization failed: ${syscall} returned ${code} (${message})`],
  ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET: [E, '`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active'],
  ERR_UNESCAPED_CHARACTERS: [T, (name) => `${name} contains unescaped characters`],
  ERR_UNHANDLED_ERROR: [E, (value) => (value === undefined ? 'Unhandled error.' : `Unhandled error. (${value})`)],
  ERR_UNKNOWN_BUILTIN_MODULE: [E, (name) => `No such built-in module: ${name}`],
  ERR_UNKNOWN_CREDENTIAL: [E, (kind, id) => `${kind} identifier does not exist: ${id}`],
  ERR_UNKNOWN_ENCODING: [T, (encoding) => `Unknown encoding: ${typeof encoding === 'string' ? encoding : inspect(encoding)}`],
  ERR_UNKNOWN_FILE_EXTENSION: [T, (extension, path) => `Unknown file extension "${extension}" for ${path}`],
  ERR_UNKNOWN_SIGNAL: [T, (signal) => `Unknown signal: ${signal}`],
  ERR_UNSUPPORTED_DIR_IMPORT: [E, (path, base) => `Directory import '${path}' is not supported resolving ES modules imported from ${base}`],
  ERR_USE_AFTER_CLOSE: [E, (name) => `${name} was closed`],
  ERR_VALID_PERFORMANCE_ENTRY_TYPE: [E, 'At least one valid performance entry type is required'],
  ERR_WORKER_INIT_FAILED: [E, (why) => `Worker initialization failure: ${why}`],
  ERR_WORKER_INVALID_EXEC_ARGV: [E, (flags, what = 'invalid execArgv flags') => `Initiated Worker with ${what}: ${flags.join(', ')}`],
  ERR_WORKER_NOT_RUNNING: [E, 'Worker instance not running'],
  ERR_WORKER_OUT_OF_MEMORY: [E, (what) => `Worker terminated due to reaching memory limit: ${what}`],
  ERR_WORKER_PATH: [T, (name) => 'The worker script or module filename must be an absolute path or a relative path starting with \'./\' ' +
    `or '../'.${name.startsWith('file://') ? ' Wrap file:// URLs with `new URL`.' : ''}${name.startsWith('data:text/javascript')
      ? ' Wrap data: URLs with `new URL`.' : ''} Received "${name}"`],
  ERR_WORKER_UNSERIALIZABLE_ERROR: [E, 'Serializing an uncaught exception failed'],
  ERR_WORKER_UNSUPPORTED_OPERATION: [T, (name) => `${name} is not supported in workers`],
};

// An error without the cost of a stack, which is taken afterwards.
function bare(Base, message) {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return new Base(message);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

// A stack that begins with name, code and message.
function withCode(error, code, above) {
  if (Error.stackTraceLimit > 0) {
    const name = error.name;
    Object.defineProperty(error, 'name', { value: `${name} [${code}]`, enumerable: false, writable: true, configurable: true });
    Error.captureStackTrace(error, above);
    delete error.name;
    if (error.name !== name) error.name = name;
  }
  error.code = code;
  return error;
}

// `above` is the function whose callers the trace begins with.
function make(code, Base, message, above) {
  const NodeError = function NodeError(...args) {
    const error = bare(Base, typeof message === 'function' ? message(...args) : message);
    Object.defineProperty(error, 'toString', {
      value() { return `${this.name} [${code}]: ${this.message}`; }, enumerable: false, writable: true, configurable: true,
    });
    return withCode(error, code, above ?? NodeError);
  };
  return NodeError;
}

// Says all in its message; a trace would show the library alone.
function UnhandledPromiseRejection(reason) {
  const error = bare(Error, 'This error originated either by throwing inside of an async function without a catch block, ' +
    'or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason ' +
    `"${plainText(reason)}".`);
  Object.defineProperty(error, 'name', { value: 'UnhandledPromiseRejection', writable: true, enumerable: false, configurable: true });
  error.code = 'ERR_UNHANDLED_REJECTION';
  return error;
}

// A value as text, without running anything of the script.
function plainText(value) {
  if (typeof value === 'symbol') return Symbol.prototype.toString.call(value);
  if (typeof value === 'function') return Function.prototype.toString.call(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Error.isError(value)) return Error.prototype.toString.call(value);
  for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
    const made = Object.getOwnPropertyDescriptor(at, 'constructor')?.value;
    if (typeof made === 'function' && made.name) return `#<${made.name}>`;
  }
  return '[object Object]';
}

class AbortError extends Error {
  constructor(message = 'The operation was aborted', options = undefined) {
    if (options !== undefined && typeof options !== 'object') throw new codes.ERR_INVALID_ARG_TYPE('options', 'Object', options);
    super(message, options);
    this.code = 'ABORT_ERR';
    this.name = 'AbortError';
  }
}

// An error of a system call: its negative number, the call, and what it was about.
function systemError({ errno, syscall, path, dest, message, ...rest }) {
  const [code, meaning] = binding('util').systemError(errno) ?? ['UNKNOWN', 'unknown error'];
  let text = `${code}: ${message ?? meaning}, ${syscall}`;
  if (path) text += ` '${path}'`;
  if (dest) text += ` -> '${dest}'`;
  const error = bare(Error, text);
  Object.assign(error, { errno, code, syscall }, rest);
  if (path) error.path = path;
  if (dest) error.dest = dest;
  if (Error.stackTraceLimit > 0) Error.captureStackTrace(error, systemError);
  return error;
}

// The shorter form, of calls that are about no path: their name and the error's.
function errnoException(errno, syscall, original) {
  const code = binding('util').systemError(errno)?.[0] ?? `Unknown system error ${errno}`;
  const error = bare(Error, `${syscall} ${code}${original ? ` ${original}` : ''}`);
  Object.assign(error, { errno, code, syscall });
  if (Error.stackTraceLimit > 0) Error.captureStackTrace(error, errnoException);
  return error;
}

const codes = { ERR_UNHANDLED_REJECTION: UnhandledPromiseRejection };
for (const [name, [Base, message, code = name]] of Object.entries(table)) {
  Object.defineProperty(codes, name, {
    get() {
      const value = make(code, Base, message);
      Object.defineProperty(codes, name, { value });
      return value;
    },
    enumerable: true,
    configurable: true,
  });
}
Object.defineProperty(codes.ERR_INVALID_ARG_VALUE, 'RangeError', { get: () => codes.ERR_INVALID_ARG_VALUE_RANGE });

module.exports = { codes, make, AbortError, systemError, errnoException, plainText };
