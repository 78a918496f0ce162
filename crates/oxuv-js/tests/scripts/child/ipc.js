// Messages between parent and child, in both forms.
const { fork } = require('child_process');

if (process.argv[2] === 'child') {
  process.once('message', () => console.log('child', process.connected, typeof process.send, process.env.NODE_CHANNEL_FD, process.argv.slice(3), process.execArgv));
  process.on('message', (message) => {
    if (message === 'bye') process.disconnect();
    else process.send(message, () => {});
  });
  process.on('disconnect', () => console.log('child is disconnected', process.connected, process.channel));
  return;
}

const circle = { name: 'circle' };
circle.self = circle;
const messages = {
  json: [1, 'text ä €', null, true, { a: [1, { b: undefined }] }, 'x'.repeat(200_000)],
  advanced: [-0, 1e300, 123456789012345678901234567890n, new Date(5), /a+/gi, new Map([[1, new Set(['x'])]]), circle, Buffer.from('bytes'),
    new Uint16Array([1, 65535]), [1, , 3], '\u{1f600} ä', new RangeError('far').message, 'x'.repeat(200_000)],
};
const shown = (value) => (typeof value === 'string' && value.length > 100 ? value.length : value);

async function talk(serialization) {
  const child = fork(__filename, ['child', 'more'], { serialization });
  for (const message of messages[serialization]) {
    const answer = new Promise((resolve) => child.once('message', resolve));
    const isSent = child.send({ message });
    const { message: got } = await answer;
    // Only now, as the child prints, too.
    console.log(isSent);
    console.log(shown(got));
  }
  let told;
  child.on('disconnect', () => { told = [child.connected, child.channel]; });
  child.send('bye');
  await new Promise((resolve) => child.on('close', resolve));
  console.log(told, child.exitCode, child.send('late', (error) => console.log(error.code)));
  await new Promise(setImmediate);
}
talk('json').then(() => talk('advanced'));
