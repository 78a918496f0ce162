// Signals as events, and process.kill.
'use strict';

const seen = [];
process.on('SIGUSR2', (name, number) => seen.push(`${name} ${number}`));
process.once('SIGUSR2', () => seen.push('once'));
process.on('SIGHUP', () => {
  seen.push('hup');
  console.log(seen, process.listenerCount('SIGUSR2'));
  clearInterval(clock);
});
const clock = setInterval(() => {}, 1000);
console.log(process.kill(process.pid, 'SIGUSR2'), process.kill(String(process.pid), 12));
setTimeout(() => process.kill(process.pid, 'SIGHUP'), 20);
for (const args of [['pid'], [process.pid, 'SIGNONE'], [process.pid, 'hup'], [2 ** 22 + 9, 0], [process.pid, 999], [undefined], [null, 'SIGNONE']]) {
  try {
    process.kill(...args);
    console.log('sent', args);
  } catch (error) {
    console.log(error.name, error.code, error.syscall, error.message);
  }
}
for (const name of ['SIGKILL', 'SIGSTOP']) {
  try {
    process.on(name, () => {});
  } catch (error) {
    console.log(name, error.message, error.code);
  }
}
process.on('SIGNOTHING', () => {});
