// How workers begin and end.
const { Worker, isMainThread, parentPort, workerData, threadId, setEnvironmentData, getEnvironmentData } = require('worker_threads');

if (!isMainThread) {
  parentPort.once('message', (message) => {
    console.log('in the worker', message, workerData, getEnvironmentData('key'), process.argv.slice(2), process.env.OWN, threadId > 0);
    parentPort.postMessage(new Uint8Array([1, 2]));
    process.on('exit', (code) => parentPort.postMessage(`exit ${code}`));
  });
  return;
}

const run = (code, options, then) => new Promise((resolve) => {
  const lines = [];
  const worker = new Worker(code, { eval: true, ...options });
  worker.on('online', () => lines.push('online'));
  worker.on('message', (message) => lines.push(message));
  worker.on('error', (error) => lines.push(error instanceof Error ? `${error.name}: ${error.message} ${error.code}` : error));
  worker.on('exit', (code) => {
    console.log(lines, code, worker.threadId);
    resolve();
  });
  then?.(worker, lines);
});

(async () => {
  setEnvironmentData('key', 'from the parent');
  await run(__filename, { eval: false, workerData: { some: 'data' }, argv: ['x'], env: { OWN: 'own' } }, (worker) => worker.postMessage('hello'));
  await run('throw new RangeError("thrown")');
  await run('throw { plain: 1 }');
  await run('Promise.reject(new TypeError("rejected"))');
  await run('throw Object.assign(new Error("coded"), { code: "CODE" })');
  await run('process.exit(3); for (;;) ;');
  await run('process.on("exit", () => { process.exitCode = 4; })');
  await run('process.on("uncaughtException", (e) => require("worker_threads").parentPort.postMessage(e.message)); throw new Error("caught")');
  await run('(function f() { f(); })()');
  for (const endless of ['for (;;) ;', '(function f() { Promise.resolve().then(f); })()', '(function f() { process.nextTick(f); })()',
    'setInterval(() => {}, 1000)', 'try { for (;;) ; } finally { for (;;) ; }', 'require("worker_threads").parentPort.on("message", () => {})']) {
    await run(endless, {}, (worker) => worker.on('online', () => worker.terminate().then((code) => console.log('terminated', code))));
  }
  await run('const all = []; for (;;) all.push(new Array(1000).fill(all.length))', { resourceLimits: { maxOldGenerationSizeMb: 16 } });
  await run('const { Worker } = require("worker_threads"); new Worker("for (;;) ;", { eval: true }); setTimeout(() => process.exit(0), 50)');
  await run('process.stdin.pipe(process.stdout)', { stdin: true, stdout: true }, (worker, lines) => {
    worker.stdout.setEncoding('utf8').on('data', (text) => lines.push(text));
    worker.stdin.end('through the worker');
  });
  for (const [name, options] of [['relative.js'], [5], ['x', { eval: true, argv: 5 }], ['x', { eval: true, env: 5 }], ['./x', { execArgv: ['--none'] }]]) {
    try {
      new Worker(name, options);
    } catch (error) {
      console.log(error.code);
    }
  }
  await new Promise((resolve) => new Worker('./nowhere.js').on('error', (error) => resolve(console.log(error.code))));
  new Worker('setInterval(() => {}, 1000)', { eval: true }).unref();
})();
