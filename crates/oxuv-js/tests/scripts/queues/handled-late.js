// Handled late.
const p = Promise.reject(new Error('late'));
process.on('unhandledRejection', () => console.log('UR'));
setTimeout(() => {
  p.catch(() => {});
  setTimeout(() => console.log('end'), 1);
}, 1);
process.on('warning', (w) => console.log(w.name, w.message, w.id));
