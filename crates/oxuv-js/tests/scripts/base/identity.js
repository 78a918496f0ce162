// Who may becomes another user; who may not is told.
'use strict';

const attempt = (name, ...args) => {
  try {
    console.log(name, process[name](...args));
  } catch (error) {
    console.log(name, error.name, error.code, error.message, error.errno, error.syscall);
  }
};

attempt('setuid', -1);
attempt('setuid', 2 ** 32);
attempt('setuid', 1.5);
attempt('seteuid', {});
attempt('setuid', 'no such user');
attempt('setuid', 'zero\0');
attempt('setgid', 'no such group');
attempt('setegid');
attempt('setgroups', 1);
attempt('setgroups', [{}]);
attempt('setgroups', [0, 'no such group']);
attempt('initgroups');
attempt('initgroups', 'root');
attempt('initgroups', 'root', 'no such group');

if (process.getuid() === 0) {
  process.setgroups(['root', 5]);
  if (!process.getgroups().includes(5)) console.log('it has no groups');
  process.initgroups('root', 6);
  if (!process.getgroups().includes(6)) console.log('it has not the groups of root');
  process.setegid(7);
  process.seteuid(65534);
  if (process.getegid() !== 7 || process.geteuid() !== 65534 || process.getuid() !== 0) console.log('it is who it was');
}
attempt('setuid', 1);
attempt('seteuid', 1);
attempt('setgid', 1);
attempt('setegid', 1);
attempt('setgroups', [1]);
attempt('initgroups', 'root', 1);
process._rawDebug('%s: %d', 'raw', 1, {});
