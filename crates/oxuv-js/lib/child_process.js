// Other programs, as children of this one.
'use strict';

const { ChildProcess, spawn: start } = require('internal/child_process');
const { codes } = require('internal/codes');
const options = require('internal/child_options');

const { isGiven } = options;

function spawn(file, args, given) {
  return start(options.normalize(file, args, given));
}

// Another script on this program, with a channel for messages.
function fork(modulePath, args, given) {
  modulePath = options.pathText(modulePath, 'modulePath');
  if (!isGiven(args)) args = [];
  else if (typeof args === 'object' && !Array.isArray(args)) [args, given] = [[], args];
  else if (!Array.isArray(args)) throw new codes.ERR_INVALID_ARG_TYPE('args', 'Array', args);
  if (isGiven(given)) require('internal/validators').validateObject(given, 'options');
  const wanted = { ...given, shell: false };
  wanted.execPath = wanted.execPath || process.execPath;
  options.refuseZero(wanted.execPath, 'options.execPath');
  const execArgv = wanted.execArgv ?? withoutCode(process.execArgv);
  if (typeof wanted.stdio === 'string') wanted.stdio = options.stdioList(wanted.stdio, 'ipc');
  else if (!Array.isArray(wanted.stdio)) wanted.stdio = options.stdioList(wanted.silent ? 'pipe' : 'inherit', 'ipc');
  else if (!wanted.stdio.includes('ipc')) throw new codes.ERR_CHILD_PROCESS_IPC_REQUIRED('options.stdio');
  return spawn(wanted.execPath, [...execArgv, modulePath, ...args], wanted);
}

// The script of the child is another one than what was given on the command line.
function withoutCode(execArgv) {
  const at = execArgv.findIndex((arg) => /^(?:-e|--eval|-p|--print|-pe)$/.test(arg));
  return at < 0 ? execArgv : [...execArgv.slice(0, at), ...execArgv.slice(at + 2)];
}

// Set up in a child that has been given a channel.
function _forkChild(fd, serialization) {
  require('internal/child_channel').setUpInChild(fd, serialization);
}

const lazy = (file, names) => Object.fromEntries(names.map((name) => [name, (...args) => require(file)[name](...args)]));

module.exports = {
  ChildProcess, spawn, fork, _forkChild,
  ...require('internal/child_exec'),
  ...lazy('internal/child_sync', ['spawnSync', 'execFileSync', 'execSync']),
};
