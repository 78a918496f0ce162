// util.inspect: long lists stand in columns.
const u = require('util');
for (const n of [7, 10, 20, 27, 50, 101, 120]) {
  console.log(u.inspect(Array.from({ length: n }, (_, i) => i * i)));
  console.log(
    u.inspect(
      Array.from({ length: n }, (_, i) => 's'.repeat(i % 9)),
      { maxArrayLength: 40 },
    ),
  );
}
