// Reasons that are no errors.
process.on('uncaughtException', (e, o) => console.log('UE', e.name, e.code, e.message, o));
Promise.reject(undefined);
Promise.reject(null);
Promise.reject({ a: 1 });
Promise.reject('str');
Promise.reject(Symbol('s'));
Promise.reject(() => {});
Promise.reject(5n);
class Q {}
Promise.reject(new Q());
Promise.reject(Object.create(null));
