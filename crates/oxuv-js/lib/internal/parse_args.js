// `util.parseArgs`: options and positional arguments of a command line.
'use strict';

const process = require('process');
const { codes } = require('internal/codes');
const { validateArray, validateBoolean, validateObject, validateString, validateOneOf } = require('internal/validators');

const own = (object, key) => (Object.hasOwn(object, key) ? object[key] : undefined);

function mainArgs() {
  const { execArgv, argv } = process;
  const isInline = execArgv.some((arg) => /^(-e|--eval|-p|--print)/.test(arg));
  return argv.slice(isInline ? 1 : 2);
}

function checkOptions(options) {
  validateObject(options, 'options');
  for (const [name, option] of Object.entries(options)) {
    const at = `options.${name}`;
    validateObject(option, at);
    validateOneOf(own(option, 'type'), `${at}.type`, ['string', 'boolean']);
    if (Object.hasOwn(option, 'short')) {
      validateString(option.short, `${at}.short`);
      if (option.short.length !== 1) throw new codes.ERR_INVALID_ARG_VALUE(`${at}.short`, option.short, 'must be a single character');
    }
    const isMultiple = own(option, 'multiple');
    if (Object.hasOwn(option, 'multiple')) validateBoolean(isMultiple, `${at}.multiple`);
    const fallback = own(option, 'default');
    if (fallback !== undefined) {
      const one = option.type === 'string' ? validateString : validateBoolean;
      if (!isMultiple) {
        one(fallback, `${at}.default`);
      } else {
        validateArray(fallback, `${at}.default`);
        fallback.forEach((each, i) => one(each, `${at}.default[${i}]`));
      }
    }
  }
}

function longOf(short, options) {
  for (const [name, option] of Object.entries(options)) if (own(option, 'short') === short) return name;
  return short;
}

const typeOf = (name, options) => (Object.hasOwn(options, name) ? own(options[name], 'type') : undefined);
const isOptionLike = (arg) => arg.length > 1 && arg[0] === '-';

// The arguments, one by one, as options, positional arguments and the terminator.
function tokenize(args, options) {
  const tokens = [];
  const rest = args.map((arg, index) => ({ arg, index }));
  while (rest.length > 0) {
    const { arg, index } = rest.shift();
    // What follows may be the option's value.
    const takeNext = (name) => (typeOf(name, options) === 'string' && rest.length > 0 && !rest[0].isGroup ? rest.shift().arg : undefined);
    if (arg === '--') {
      tokens.push({ kind: 'option-terminator', index });
      for (const left of rest) tokens.push({ kind: 'positional', index: left.index, value: left.arg });
      break;
    }
    if (/^-[^-]$/u.test(arg)) {
      const name = longOf(arg[1], options);
      const value = takeNext(name);
      tokens.push({ kind: 'option', name, rawName: arg, index, value, inlineValue: value !== undefined ? false : undefined });
    } else if (/^-[^-]/.test(arg)) {
      const short = arg[1];
      const name = longOf(short, options);
      if (typeOf(name, options) === 'string') {
        tokens.push({ kind: 'option', name, rawName: `-${short}`, index, value: arg.slice(2), inlineValue: true });
      } else {
        // A group: each letter on its own; one that takes a value takes the letters behind it.
        const letters = [];
        for (let at = 1; at < arg.length; at++) {
          const letter = arg[at];
          if (typeOf(longOf(letter, options), options) !== 'string' || at === arg.length - 1) {
            letters.push({ arg: `-${letter}`, index });
          } else {
            letters.push({ arg: `-${arg.slice(at)}`, index });
            break;
          }
        }
        rest.unshift(...letters.map((letter, i) => ({ ...letter, isGroup: i > 0 })));
      }
    } else if (/^--[^=]+$/s.test(arg)) {
      const name = arg.slice(2);
      const value = takeNext(name);
      tokens.push({ kind: 'option', name, rawName: arg, index, value, inlineValue: value !== undefined ? false : undefined });
    } else if (/^--.+=/s.test(arg)) {
      const at = arg.indexOf('=');
      tokens.push({ kind: 'option', name: arg.slice(2, at), rawName: arg.slice(0, at), index, value: arg.slice(at + 1), inlineValue: true });
    } else {
      tokens.push({ kind: 'positional', index, value: arg });
    }
  }
  return tokens;
}

function checkToken(token, { options, allowPositionals }) {
  const { name, rawName, value } = token;
  if (!Object.hasOwn(options, name)) throw new codes.ERR_PARSE_ARGS_UNKNOWN_OPTION(rawName, allowPositionals);
  const short = own(options[name], 'short');
  const both = `${short ? `-${short}, ` : ''}--${name}`;
  const type = own(options[name], 'type');
  if (type === 'string' && typeof value !== 'string') {
    throw new codes.ERR_PARSE_ARGS_INVALID_OPTION_VALUE(`Option '${both} <value>' argument missing`);
  }
  if (type === 'boolean' && value != null) {
    throw new codes.ERR_PARSE_ARGS_INVALID_OPTION_VALUE(`Option '${both}' does not take an argument`);
  }
  if (token.inlineValue === false && isOptionLike(value)) {
    const other = rawName.startsWith('--') ? `'${rawName}=-XYZ'` : `'--${name}=-XYZ' or '${rawName}-XYZ'`;
    throw new codes.ERR_PARSE_ARGS_INVALID_OPTION_VALUE(
      `Option '${rawName}' argument is ambiguous.\nDid you forget to specify the option argument for '${rawName}'?\n` +
      `To specify an option argument starting with a dash use ${other}.`);
  }
}

function parseArgs(config = {}) {
  validateObject(config, 'config');
  const args = own(config, 'args') ?? mainArgs();
  const strict = own(config, 'strict') ?? true;
  const allowPositionals = own(config, 'allowPositionals') ?? !strict;
  const hasTokens = own(config, 'tokens') ?? false;
  const options = own(config, 'options') ?? {};
  validateArray(args, 'args');
  validateBoolean(strict, 'strict');
  validateBoolean(allowPositionals, 'allowPositionals');
  validateBoolean(hasTokens, 'tokens');
  checkOptions(options);
  const tokens = tokenize(args, options);
  const result = { values: Object.create(null), positionals: [] };
  if (hasTokens) result.tokens = tokens;
  for (const token of tokens) {
    if (token.kind === 'positional') {
      if (!allowPositionals) throw new codes.ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL(token.value);
      result.positionals.push(token.value);
    } else if (token.kind === 'option') {
      if (strict) checkToken(token, { options, allowPositionals });
      store(token, options, result.values);
    }
  }
  for (const [name, option] of Object.entries(options)) {
    const fallback = own(option, 'default');
    if (fallback !== undefined && result.values[name] === undefined) result.values[name] = fallback;
  }
  return result;
}

function store({ name, value = true }, options, values) {
  if (name === '__proto__') return;
  if (Object.hasOwn(options, name) && own(options[name], 'multiple')) (values[name] ??= []).push(value);
  else values[name] = value;
}

module.exports = { parseArgs };
