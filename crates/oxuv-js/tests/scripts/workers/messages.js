// Messages between ports, and what goes with them.
const { MessageChannel, MessagePort, receiveMessageOnPort, BroadcastChannel, markAsUntransferable } = require('worker_threads');

const send = (value, transfer) => {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value, transfer);
  return receiveMessageOnPort(port2)?.message;
};
const circle = [1];
circle.push(circle);
for (const value of [undefined, null, -0, 2 ** 40, 'ä€\u{1f600}', 5n, [1, , 3], circle, new Map([[{}, new Set([1])]]), new Date(7), /x/y,
  new Error('e').message, Object('boxed'), new Float64Array([0.5]), new DataView(new ArrayBuffer(2)), { a: { b: undefined } }]) {
  console.log(send(value));
}
const buffer = new ArrayBuffer(4);
const view = new Uint8Array(buffer).fill(7);
const got = send({ view, twice: [view, buffer] }, [buffer]);
console.log(got, got.view === got.twice[0], got.view.buffer === got.twice[1], view.length, buffer.byteLength);
const kept = new ArrayBuffer(2);
markAsUntransferable(kept);
console.log(send(kept, [kept]).byteLength, kept.byteLength);
const refused = (make) => {
  try {
    make();
    console.log('well');
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
};
refused(() => send(() => {}));
refused(() => send({ a: Symbol('s') }));
refused(() => send(new MessageChannel().port1));
refused(() => send(1, [1]));
refused(() => send(1, [kept, kept]));
refused(() => new MessagePort());
refused(() => receiveMessageOnPort({}));

const { port1, port2 } = new MessageChannel();
const inner = new MessageChannel();
port2.on('message', (message) => {
  if (message instanceof MessagePort) message.postMessage('by a port that was sent');
  else console.log('message', message);
});
port2.on('close', () => console.log('close of 2'));
inner.port1.once('message', (message) => {
  console.log(message);
  inner.port1.close();
  port1.postMessage('last');
  port1.close(() => console.log('close of 1'));
});
port1.postMessage(inner.port2, [inner.port2]);
process.nextTick(() => console.log('tick'));
setImmediate(() => {
  const [one, other, alone] = ['a name', 'a name', 'another'].map((name) => new BroadcastChannel(name));
  other.onmessage = ({ data }) => {
    console.log('heard', data);
    for (const each of [one, other, alone]) each.close();
  };
  alone.onmessage = one.onmessage = () => console.log('wrong');
  one.postMessage({ to: 'all' });
});
