// The methods of objects of the library's that go to other threads, alone so that whoever has one loads nothing else.
'use strict';

module.exports = {
  // Of one that is copied: says how it is written, as `{ kind, value, isShared }`.
  kClone: Symbol('clone'),
  // Of one that moves: throws if it cannot; then gives its number away.
  kCheck: Symbol('check'),
  kTransfer: Symbol('transfer'),
};
