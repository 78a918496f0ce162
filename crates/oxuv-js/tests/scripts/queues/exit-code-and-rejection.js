// Exit code and rejection.
process.exitCode = 7;
process.on('exit', (c) => {
  console.log(c, process.exitCode);
});
process.on('uncaughtException', undefined || (() => {}));
process.removeAllListeners('uncaughtException');
Promise.resolve().then(() => {
  throw new TypeError('q');
});
