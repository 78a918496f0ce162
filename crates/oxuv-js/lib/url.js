// The module `url`.
'use strict';

const { URL, URLSearchParams, fileURLToPath, pathToFileURL, domainToASCII, domainToUnicode, urlToHttpOptions } = require('internal/url');

const legacy = (name) => Object.defineProperty((...args) => require('internal/url_legacy')[name](...args), 'name', { value: name });

module.exports = {
  parse: legacy('parse'),
  resolve: legacy('resolve'),
  resolveObject: legacy('resolveObject'),
  format: legacy('format'),
  URL,
  URLSearchParams,
  domainToASCII,
  domainToUnicode,
  pathToFileURL,
  fileURLToPath,
  urlToHttpOptions,
};
Object.defineProperty(module.exports, 'Url', { get: () => require('internal/url_legacy').Url, enumerable: true, configurable: true });
