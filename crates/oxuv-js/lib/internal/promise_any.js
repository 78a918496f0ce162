// `Promise.any`, step by step as the language has it, with a message for its error.
'use strict';

const MESSAGE = 'All promises were rejected';

function allRejected(reasons) {
  const error = new AggregateError(reasons, MESSAGE);
  // It comes from no line of the script.
  error.stack = `AggregateError: ${MESSAGE}`;
  return error;
}

module.exports = (Constructor, iterable) => new Constructor((resolve, reject) => {
  const toPromise = Constructor.resolve;
  const reasons = [];
  let waiting = 1;
  const isRejected = () => {
    if (--waiting === 0) reject(allRejected(reasons));
  };
  let count = 0;
  for (const value of iterable) {
    const place = count++;
    reasons[place] = undefined;
    waiting++;
    let isTold = false;
    toPromise.call(Constructor, value).then(resolve, (reason) => {
      if (isTold) return;
      isTold = true;
      reasons[place] = reason;
      isRejected();
    });
  }
  isRejected();
});
