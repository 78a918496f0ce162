// Rejection in handler.
process.on('uncaughtException', (e, o) => {
  console.log('UE', e.message, o);
  Promise.reject(new Error('again ' + (globalThis.k = (globalThis.k || 0) + 1)));
  if (globalThis.k > 3) process.exit(0);
});
Promise.reject(new Error('first'));
setTimeout(() => console.log('to'), 0);
const s = Date.now();
while (Date.now() - s < 3);
