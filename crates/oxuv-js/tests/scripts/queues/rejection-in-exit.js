// Rejection in exit.
process.on('exit', (c) => {
  console.log('exit', c);
  Promise.reject(new Error('in exit'));
});
