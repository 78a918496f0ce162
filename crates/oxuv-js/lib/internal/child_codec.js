// Messages as bytes of a channel: lines of JSON, or structured clones with their length in front.
'use strict';

class Lines {
  #decoder = new (require('string_decoder').StringDecoder)('utf8');
  #rest = '';

  get isBuffering() { return this.#rest !== ''; }

  write(message) { return `${JSON.stringify(message)}\n`; }

  read(bytes) {
    const lines = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).split('\n');
    if (lines.length === 1) {
      this.#rest += lines[0];
      return [];
    }
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop();
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  }
}

class Clones {
  #chunks = [];
  #length = 0;

  get isBuffering() { return this.#length > 0; }

  write(message) {
    const { serialize } = require('internal/serializer');
    const bytes = serialize(message, { forChannel: true });
    const framed = new Uint8Array(4 + bytes.length);
    new DataView(framed.buffer).setUint32(0, bytes.length);
    framed.set(bytes, 4);
    return framed;
  }

  read(bytes) {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    const found = [];
    while (this.#length >= 4) {
      const head = this.#join(4);
      const size = new DataView(head.buffer, head.byteOffset).getUint32(0);
      if (this.#length < 4 + size) break;
      const all = this.#join(4 + size);
      found.push(require('internal/serializer').deserialize(all.slice(4, 4 + size), { forChannel: true }));
      this.#length -= 4 + size;
      this.#chunks[0] = all.subarray(4 + size);
    }
    return found;
  }

  // So many bytes in one piece; more are joined only when they are all there.
  #join(size) {
    if (this.#chunks[0].length < size) {
      const whole = new Uint8Array(this.#length);
      let at = 0;
      for (const chunk of this.#chunks) {
        whole.set(chunk, at);
        at += chunk.length;
      }
      this.#chunks = [whole];
    }
    return this.#chunks[0];
  }
}

module.exports = { codec: (serialization) => (serialization === 'advanced' ? new Clones() : new Lines()) };
