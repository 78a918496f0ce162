// `../common/fixtures` for ES modules.
import { createRequire } from 'node:module';

export const { fixturesDir, path, fileURL, readSync, readKey } = createRequire(import.meta.url)('./fixtures.js');
