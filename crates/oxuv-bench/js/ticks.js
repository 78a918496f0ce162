// So many ticks, a thousand of them waiting at any time.
'use strict';

const count = Number(process.argv[2]);
let made = 0;
let came = 0;
function come() {
  came++;
  if (made < count) make();
}
function make() {
  made++;
  process.nextTick(come);
}
while (made < Math.min(count, 1000)) make();
process.on('exit', () => {
  if (came !== count) process.exitCode = 1;
  // The largest resident set, in KiB.
  console.log(process.resourceUsage().maxRSS);
});
