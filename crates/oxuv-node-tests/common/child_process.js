// What Node's tests require as `../common/child_process`: children that outlive their time.
'use strict';

module.exports = {
  cleanupStaleProcess() {},
  kExpiringChildRunTime: 20_000,
  kExpiringParentTimer: 1,
  logAfterTime(time) {
    setTimeout(() => {
      console.log('child stdout');
      console.error('child stderr');
    }, time);
  },
};
