// Microtask in exit.
process.on('exit', (c) => {
  console.log('exit', c);
  Promise.resolve().then(() => {
    console.log('m');
    process.exitCode = 4;
    throw 1;
  });
});
process.on('uncaughtException', (e, o) => console.log('UE', e.message, o));
