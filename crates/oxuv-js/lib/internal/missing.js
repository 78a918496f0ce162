// What is said of a module of Node that oxuv does not have.
'use strict';

const OF_NODE = new Set(['async_hooks', 'child_process', 'cluster', 'crypto', 'dgram', 'diagnostics_channel', 'dns',
  'dns/promises', 'domain', 'http2', 'https', 'inspector', 'inspector/promises', 'net', 'readline',
  'readline/promises', 'repl', 'sea', 'sqlite', 'stream', 'stream/consumers', 'stream/promises', 'stream/web', 'test',
  'test/reporters', 'tls', 'trace_events', 'tty', 'v8', 'vm', 'wasi', 'worker_threads', 'zlib']);

// To be put behind the name; empty for what is no module of Node.
module.exports = (name) => {
  const bare = name.startsWith('node:') ? name.slice(5) : name;
  return OF_NODE.has(bare) ? `: '${bare}' is one of Node's modules that oxuv does not have` : '';
};
