// Children that the script waits for.
'use strict';

const native = binding('child');
const { codes } = require('internal/codes');
const options = require('internal/child_options');

// An error of a child that could not be made, or did not do well.
function failure(errno, file, args, call) {
  const [code] = binding('util').systemError(errno) ?? [`Unknown system error ${errno}`];
  const error = new Error(`${call} ${code}`);
  return Object.assign(error, { errno, code, syscall: call, path: file, spawnargs: args });
}

function inputOf(input, encoding, at) {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (typeof input === 'string') return Buffer.from(input, encoding);
  throw new codes.ERR_INVALID_ARG_TYPE(`options.stdio[${at}]`, ['Buffer', 'TypedArray', 'DataView', 'string'], input);
}

function spawnSync(file, args, given) {
  const wanted = { maxBuffer: 1024 * 1024, ...options.normalize(file, args, given) };
  options.validateTimeout(wanted.timeout);
  options.validateMaxBuffer(wanted.maxBuffer);
  wanted.killSignal = options.killSignal(wanted.killSignal);
  wanted.stdio = options.getValidStdio(wanted.stdio || 'pipe', true).stdio;
  if (wanted.input) wanted.stdio[0] = { ...wanted.stdio[0], input: wanted.input };
  wanted.stdio.forEach((slot, at) => {
    if (slot.type === 'wrap') throw new codes.ERR_INVALID_ARG_VALUE('stdio', slot.stream);
    if (slot.input !== undefined && slot.input !== null) slot.input = inputOf(slot.input, wanted.encoding, at);
  });
  return run(wanted);
}

function run(wanted) {
  const { pid, status, signal, output, error } = native.spawnSync(options.forNative(wanted, wanted.stdio));
  const isText = wanted.encoding && wanted.encoding !== 'buffer';
  const told = output?.map((bytes) => {
    if (bytes === null || bytes === undefined) return null;
    const buffer = Buffer.from(bytes);
    return isText ? buffer.toString(wanted.encoding) : buffer;
  }) ?? null;
  const result = { pid, status: status ?? null, signal: options.signalName(signal), output: told };
  if (error !== 0) result.error = failure(error, wanted.file, wanted.args.slice(1), `spawnSync ${wanted.file}`);
  // In this order they are shown.
  return { ...(error !== 0 ? { error: result.error } : undefined), status: result.status, signal: result.signal, output: told, pid,
    stdout: told && told[1], stderr: told && told[2] };
}

// What is thrown of a child that did not do well.
function problem(result, args, command) {
  if (result.error) return Object.assign(result.error, result);
  if (result.status === 0) return undefined;
  let text = `Command failed: ${command || args.join(' ')}`;
  if (result.stderr && result.stderr.length > 0) text += `\n${result.stderr}`;
  return Object.assign(new Error(text), result);
}

function finish(result, isErrInherited, args, command) {
  if (isErrInherited && result.stderr) process.stderr.write(result.stderr);
  const error = problem(result, args, command);
  if (error) throw error;
  return result.stdout;
}

function execFileSync(file, args, given) {
  if (args !== undefined && args !== null && !Array.isArray(args) && typeof args === 'object') [args, given] = [[], args];
  else if (args !== undefined && args !== null && !Array.isArray(args)) throw new codes.ERR_INVALID_ARG_TYPE('args', 'object', args);
  const result = spawnSync(file, args, given);
  return finish(result, !given?.stdio, [given?.argv0 || file, ...(args ?? [])], undefined);
}

function execSync(command, given) {
  const wanted = { ...given, shell: typeof given?.shell === 'string' ? given.shell : true };
  return finish(spawnSync(command, wanted), !wanted.stdio, [], command);
}

module.exports = { spawnSync, execFileSync, execSync };
