// What makes the process another user's or group's.
'use strict';

const native = binding('process');
const { codes, systemError } = require('internal/codes');
const { validateArray, validateUint32 } = require('internal/validators');

// A number as it is; a name is looked up. Undefined if there is none of this name.
function idOf(value, name, isUser) {
  if (typeof value === 'string') return native.idOf(value, isUser);
  if (typeof value !== 'number') throw new codes.ERR_INVALID_ARG_TYPE(name, ['number', 'string'], value);
  validateUint32(value, name);
  return value;
}

function knownId(value, name, isUser) {
  const id = idOf(value, name, isUser);
  if (id === undefined) throw new codes.ERR_UNKNOWN_CREDENTIAL(isUser ? 'User' : 'Group', value);
  return id;
}

function check(errno, syscall) {
  if (errno === 0) return;
  const { code, message } = systemError({ errno, syscall });
  const text = message.slice(code.length + 2, -syscall.length - 2);
  throw Object.assign(new Error(`${code}, ${text[0].toUpperCase()}${text.slice(1)}`), { errno: -errno, code, syscall });
}

const setter = (which, syscall) => ({ [syscall](id) { check(native.setId(which, knownId(id, 'id', which < 2)), syscall); } })[syscall];

module.exports = {
  setuid: setter(0, 'setuid'),
  seteuid: setter(1, 'seteuid'),
  setgid: setter(2, 'setgid'),
  setegid: setter(3, 'setegid'),

  setgroups(groups) {
    validateArray(groups, 'groups');
    check(native.setGroups(groups.map((group, at) => knownId(group, `groups[${at}]`, false))), 'setgroups');
  },

  initgroups(user, group) {
    if (typeof user !== 'string') idOf(user, 'user', true);
    const id = knownId(group, 'extraGroup', false);
    const errno = typeof user === 'string' ? native.setGroupsOf(user, 0, id) : native.setGroupsOf(null, user, id);
    if (errno === undefined) throw new codes.ERR_UNKNOWN_CREDENTIAL('User', user);
    check(errno, 'initgroups');
  },
};
