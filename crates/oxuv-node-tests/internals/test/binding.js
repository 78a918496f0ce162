// What tests take from Node's bindings.
'use strict';

// The loop's time: a timer tells from when it counts.
function getLibuvNow() {
  const timer = setTimeout(() => {}, 1);
  clearTimeout(timer);
  return timer._idleStart;
}

// The errors of the system, by name.
const uv = {};
for (const [name, number] of Object.entries(require('os').constants.errno)) uv[`UV_${name}`] = -number;
for (const [number, [name]] of require('util').getSystemErrorMap()) uv[`UV_${name}`] = number;

const bindings = {
  timers: { getLibuvNow },
  uv,
  get udp_wrap() { return { UDP: require('internal/dgram').UDP }; },
};

function internalBinding(name) {
  if (!Object.hasOwn(bindings, name)) throw new Error(`No such binding: ${name}`);
  return bindings[name];
}

module.exports = { internalBinding };
