// A rejection with a listener that rejects again, and a throw in rejectionHandled.
let k = 0;
process.on('unhandledRejection', (r, p) => {
  console.log('UR', r);
  if (++k < 4) Promise.reject('again ' + k);
  setTimeout(() => p.catch(() => {}), 1);
});
process.on('rejectionHandled', () => {
  console.log('RH');
  if (k === 4) {
    k++;
    throw new Error('in RH');
  }
});
process.on('uncaughtException', (e) => console.log('UE', e.message));
Promise.reject('first');
