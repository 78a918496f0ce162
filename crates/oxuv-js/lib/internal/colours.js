// How many colours a terminal has, by what the environment says.
'use strict';

const NONE = 1, SIXTEEN = 4, MANY = 8, ALL = 24;

// Terminals by name, with what they can do.
const TERMS = new Map([['eterm', SIXTEEN], ['cons25', SIXTEEN], ['console', SIXTEEN], ['cygwin', SIXTEEN], ['dtterm', SIXTEEN],
  ['gnome', SIXTEEN], ['hurd', SIXTEEN], ['jfbterm', SIXTEEN], ['konsole', SIXTEEN], ['kterm', SIXTEEN], ['mlterm', SIXTEEN],
  ['mosh', ALL], ['putty', SIXTEEN], ['st', SIXTEEN], ['rxvt-unicode-24bit', ALL], ['terminator', ALL]]);
const TERM_KINDS = /ansi|color|linux|^con[0-9]*x[0-9]|^rxvt|^screen|^xterm|^vt100/;
const BUILDERS = ['APPVEYOR', 'BUILDKITE', 'CIRCLECI', 'DRONE', 'GITHUB_ACTIONS', 'GITLAB_CI', 'TRAVIS'];

const FORCED = { '': SIXTEEN, '1': SIXTEEN, 'true': SIXTEEN, '2': MANY, '3': ALL };

let hasWarned = false;

function warnOfForced(env) {
  const name = env.NODE_DISABLE_COLORS !== undefined ? 'NODE_DISABLE_COLORS' : env.NO_COLOR !== undefined ? 'NO_COLOR' : undefined;
  if (name === undefined || hasWarned) return;
  hasWarned = true;
  process.emitWarning(`The '${name}' env is ignored due to the 'FORCE_COLOR' env being set.`, 'Warning');
}

function ofProgram(env) {
  switch (env.TERM_PROGRAM) {
    case 'iTerm.app': return !env.TERM_PROGRAM_VERSION || /^[0-2]\./.test(env.TERM_PROGRAM_VERSION) ? MANY : ALL;
    case 'HyperTerm':
    case 'MacTerm': return ALL;
    case 'Apple_Terminal': return MANY;
    default: return undefined;
  }
}

function ofTerm(env) {
  const term = (env.TERM ?? '').toLowerCase();
  if (/^xterm-256/.test(term)) return MANY;
  if (TERMS.has(term)) return TERMS.get(term);
  return TERM_KINDS.test(term) ? SIXTEEN : undefined;
}

// The bits of a colour.
function depth(env) {
  if (env.FORCE_COLOR !== undefined) {
    const forced = Object.hasOwn(FORCED, env.FORCE_COLOR) ? FORCED[env.FORCE_COLOR] : NONE;
    if (forced !== NONE) warnOfForced(env);
    return forced;
  }
  if (env.NODE_DISABLE_COLORS || env.NO_COLOR || env.TERM === 'dumb') return NONE;
  if (env.TMUX) return MANY;
  if (env.CI) return BUILDERS.some((name) => name in env) || env.CI_NAME === 'codeship' ? MANY : NONE;
  if ('TEAMCITY_VERSION' in env) return /^(9\.(0*[1-9]\d*)\.|\d{2,}\.)/.test(env.TEAMCITY_VERSION) ? SIXTEEN : NONE;
  const known = ofProgram(env);
  if (known !== undefined) return known;
  if (env.COLORTERM === 'truecolor' || env.COLORTERM === '24bit') return ALL;
  return ofTerm(env) ?? (env.COLORTERM ? SIXTEEN : NONE);
}

module.exports = { depth };
