// Rejections handled in different moments.
process.on('unhandledRejection', (r) => console.log('UR', r));
process.on('rejectionHandled', () => console.log('RH'));
const late = (p, when) => when(() => p.catch((e) => console.log('caught', e)));
late(Promise.reject('tick'), process.nextTick);
late(Promise.reject('micro'), queueMicrotask);
late(Promise.reject('imm'), setImmediate);
late(Promise.reject('timer'), (f) => setImmediate(() => setImmediate(() => setTimeout(f, 1))));
setImmediate(() => {
  late(Promise.reject('tick in imm'), process.nextTick);
  late(Promise.reject('micro in imm'), queueMicrotask);
  Promise.reject('none in imm');
  process.nextTick(() => process.nextTick(() => console.log('t')));
});
setImmediate(() => console.log('second imm'));
