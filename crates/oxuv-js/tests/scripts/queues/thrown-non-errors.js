// Exceptions that are no errors.
process.on('uncaughtException', (e, o) => console.log('UE', e, o));
setTimeout(() => {
  throw null;
}, 1);
setTimeout(() => {
  throw undefined;
}, 2);
setTimeout(() => {
  throw 'text';
}, 3);
setTimeout(() => {
  throw { a: 1 };
}, 4);
