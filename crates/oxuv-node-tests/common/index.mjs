// `../common` for ES modules.
import { createRequire } from 'node:module';

const common = createRequire(import.meta.url)('./index.js');

export const {
  mustCall, mustCallAtLeast, mustSucceed, mustNotCall, expectsError, expectWarning, skip, invalidArgTypeHelper,
  runWithInvalidFD, mustNotMutateObjectDeep, getArrayBufferViews, getBufferSources, printSkipMessage, platformTimeout, allowGlobals,
  disableCrashOnUnhandledRejection, isMainThread, isLinux, isWindows, isOSX, isAIX, isIBMi, hasCrypto, hasIntl, hasIPv6, PIPE, PORT,
} = common;
export { createRequire };
export default common;
