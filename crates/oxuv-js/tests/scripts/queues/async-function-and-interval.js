// Async function and interval.
async function f() {
  await null;
  throw new Error('async');
}
f();
process.on('uncaughtException', (e, o) => {
  console.log(e.message, o);
  setTimeout(() => {
    console.log('later');
  }, 1);
});
let n = 0;
const i = setInterval(() => {
  n++;
  console.log('i', n);
  if (n === 3) clearInterval(i);
  if (n === 2) throw new Error('iv');
}, 1);
