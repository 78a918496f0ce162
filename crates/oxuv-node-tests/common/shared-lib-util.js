// What Node's tests require as `../common/shared-lib-util`: the program is in one piece.
'use strict';

module.exports = { addLibraryPath() {}, getBinaryPath: () => process.execPath };
