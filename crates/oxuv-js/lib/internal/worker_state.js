// What a thread knows of itself. In a worker its start fills it in.
'use strict';

const threadId = binding('worker').threadId();

module.exports = {
  isMainThread: threadId === 0,
  threadId,
  parentPort: null,
  workerData: null,
  resourceLimits: {},
  environmentData: new Map(),
  SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'),
};
