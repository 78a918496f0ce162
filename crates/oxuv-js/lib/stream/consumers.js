// The module `stream/consumers`: all of a stream at once.
'use strict';

async function chunksOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const blob = async (stream) => new Blob(await chunksOf(stream));

async function arrayBuffer(stream) {
  return (await blob(stream)).arrayBuffer();
}

async function buffer(stream) {
  return Buffer.from(await arrayBuffer(stream));
}

async function text(stream) {
  const decoder = new TextDecoder();
  let all = '';
  for await (const chunk of stream) {
    all += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
  }
  // Half a character may be left.
  return all + decoder.decode();
}

const json = async (stream) => JSON.parse(await text(stream));

module.exports = { arrayBuffer, blob, buffer, json, text };
