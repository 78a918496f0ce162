// Tells when an object is collected.
'use strict';

const registry = new FinalizationRegistry((listener) => listener.ongc());

module.exports = (object, listener) => registry.register(object, listener);
