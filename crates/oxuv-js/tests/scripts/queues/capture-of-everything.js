// A capture callback gets rejections too.
process.setUncaughtExceptionCaptureCallback((e) => console.log('cap', e.message));
process.on('uncaughtException', () => console.log('never'));
Promise.reject(new Error('rejected'));
queueMicrotask(() => {
  throw new Error('micro');
});
process.nextTick(() => {
  throw new Error('tick');
});
setImmediate(() => console.log('imm'));
