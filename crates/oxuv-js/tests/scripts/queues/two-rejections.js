// Two rejections.
Promise.reject(new Error('a'));
Promise.reject(new Error('b'));
process.on('exit', (c) => console.log('exit', c));
setTimeout(() => console.log('never'), 0);
process.on('uncaughtExceptionMonitor', (e, o) => console.log('mon', e.message, o));
