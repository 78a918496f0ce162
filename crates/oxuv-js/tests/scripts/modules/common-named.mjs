import common, { one, two, three, five } from './fixtures/esm/common.cjs';
import * as all from './fixtures/esm/common.cjs';
import object, { local, quoted } from './fixtures/esm/object.cjs';
import { one as again } from './fixtures/esm/reexport.cjs';
import made, { property } from './fixtures/esm/function.cjs';
import { createRequire } from 'node:module';
import events, { EventEmitter, once } from 'events';
import * as util from 'node:util';

console.log(common, one, two, three, five, all['not-a-name'], all.default === common);
console.log(local, object.text, quoted, again, made(), property);
console.log(events === EventEmitter, typeof once, typeof util.inspect, util.default.inspect === util.inspect);
const require = createRequire(import.meta.url);
console.log(require('./fixtures/esm/common.cjs') === common, require('events') === events);
import json from './fixtures/data.json' with { type: 'json' };
console.log(json.list, require('./fixtures/data.json').list.length);
