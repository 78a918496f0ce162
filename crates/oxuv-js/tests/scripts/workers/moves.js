// What else goes to other threads: files, lists of addresses, histograms; and what is known of a worker's loop.
'use strict';

const fs = require('fs');
const path = require('path');
const os = require('os');
const { BlockList } = require('net');
const { createHistogram } = require('perf_hooks');
const { Worker, isMainThread, parentPort, workerData, MessageChannel } = require('worker_threads');

if (!isMainThread) {
  const { list, histogram } = workerData;
  console.log(list.check('10.0.0.7'), list.check('10.0.1.7'), list.rules, histogram.count, histogram.max);
  parentPort.once('message', async ({ handle }) => {
    parentPort.postMessage(`${await handle.readFile()}, ${globalThis.isPrepared}`);
    await handle.close();
  });
  return;
}

async function main() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'moves-'));
  const file = path.join(folder, 'file.js');
  fs.writeFileSync(file, 'globalThis.isPrepared = true');
  const list = new BlockList();
  list.addSubnet('10.0.0.0', 24);
  const histogram = createHistogram();
  histogram.record(5);
  const worker = new Worker(__filename, { workerData: { list, histogram }, execArgv: ['--require', file] });
  console.log(worker.performance.eventLoopUtilization());
  const handle = await fs.promises.open(file);
  worker.postMessage({ handle }, [handle]);
  console.log(handle.fd);
  console.log(await new Promise((resolve) => worker.once('message', resolve)));
  await new Promise((resolve) => worker.on('exit', resolve));
  console.log(worker.performance.eventLoopUtilization());

  // Who moves has to be told, and nobody may use it.
  const { port1 } = new MessageChannel();
  const used = await fs.promises.open(file);
  const fails = (what) => { try { what(); } catch (error) { console.log(error.name, error.code); } };
  fails(() => port1.postMessage({ used }));
  const reading = used.readFile();
  fails(() => port1.postMessage({ used }, [used]));
  await reading;
  await used.close();
  port1.close();
  fs.rmSync(folder, { recursive: true });
}
main();
