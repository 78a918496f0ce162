// So many timeouts of mixed durations, all armed before the first fires.
'use strict';

const count = Number(process.argv[2]);
let fired = 0;
const fire = () => { fired++; };
for (let n = 0; n < count; n++) setTimeout(fire, 1 + (n * 7919) % 97);
process.on('exit', () => {
  if (fired !== count) process.exitCode = 1;
  // The largest resident set, in KiB.
  console.log(process.resourceUsage().maxRSS);
});
