// A timeout that does not keep the program running.
//
//     oxuv examples/js/unref.js
'use strict';

const hour = setTimeout(() => console.log('this is never printed'), 3_600_000);
// The loop ends when nothing is left that keeps it alive. This does not count from here on.
hour.unref();
console.log('does the hour keep the program running?', hour.hasRef());

const beat = setInterval(() => console.log('beat, as long as the program runs'), 10).unref();
console.log('does the beat?', beat.hasRef());

// This one counts: until it has come, the beat goes on.
setTimeout(() => console.log('the last one that counts'), 35);

process.on('exit', () => console.log('the end'));
