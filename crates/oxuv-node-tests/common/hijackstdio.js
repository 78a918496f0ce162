// Listens to what is written to standard output and error.
'use strict';

const writes = {};

function hijack(name, listener) {
  const stream = process[name];
  const { write } = stream;
  writes[name] = write;
  stream.writeTimes = 0;
  stream.write = function(data, ...rest) {
    try {
      listener(data);
    } catch (error) {
      process.nextTick(() => { throw error; });
    }
    stream.writeTimes++;
    return write.call(stream, data, ...rest);
  };
}

function restore(name) {
  process[name].write = writes[name];
  delete process[name].writeTimes;
}

module.exports = {
  hijackStdout: (listener) => hijack('stdout', listener),
  hijackStderr: (listener) => hijack('stderr', listener),
  restoreStdout: () => restore('stdout'),
  restoreStderr: () => restore('stderr'),
};
