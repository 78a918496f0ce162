// Other programs, as children of this one.
'use strict';

const sync = require('internal/child_sync');

module.exports = { spawnSync: sync.spawnSync, execFileSync: sync.execFileSync, execSync: sync.execSync };
