// Errors of Node's own that look like those of the system: what they are about is in `info`.
'use strict';

const PREFIXES = {
  ERR_FS_CP_DIR_TO_NON_DIR: 'Cannot overwrite non-directory with directory',
  ERR_FS_CP_EEXIST: 'Target already exists',
  ERR_FS_CP_EINVAL: 'Invalid src or dest',
  ERR_FS_CP_FIFO_PIPE: 'Cannot copy a FIFO pipe',
  ERR_FS_CP_NON_DIR_TO_DIR: 'Cannot overwrite directory with non-directory',
  ERR_FS_CP_SOCKET: 'Cannot copy a socket file',
  ERR_FS_CP_SYMLINK_TO_SUBDIRECTORY: 'Cannot overwrite symlink in subdirectory of self',
  ERR_FS_CP_UNKNOWN: 'Cannot copy an unknown file type',
  ERR_FS_EISDIR: 'Path is a directory',
};
const NUMBERS = { EEXIST: 17, EISDIR: 21, ENOTDIR: 20, EINVAL: 22 };

// `name` is that of the error of the system.
function infoError(code, name, { message, syscall, path, dest }) {
  const info = { code: name, message, path, syscall, errno: NUMBERS[name] };
  if (dest !== undefined) info.dest = dest;
  let text = `${PREFIXES[code]}: ${syscall} returned ${name} (${message})`;
  if (path !== undefined) text += ` ${path}`;
  if (dest !== undefined) text += ` => ${dest}`;
  const error = new Error(text);
  Object.defineProperty(error, 'name', { value: `SystemError [${code}]`, enumerable: false, writable: true, configurable: true });
  Error.captureStackTrace(error, infoError);
  error.name = 'SystemError';
  error.code = code;
  error.info = info;
  for (const field of ['errno', 'syscall', 'path', 'dest']) {
    if (info[field] === undefined) continue;
    Object.defineProperty(error, field, {
      get: () => info[field], set(value) { info[field] = value; }, enumerable: true, configurable: true,
    });
  }
  return error;
}

module.exports = { infoError };
