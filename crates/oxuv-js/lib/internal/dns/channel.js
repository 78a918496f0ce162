// Asks servers of names, over UDP: one after the other, each several times, until one answers. What does not fit into a datagram is
// asked for once more, over TCP.
'use strict';

const process = require('process');
const dgram = require('dgram');
const { Buffer } = require('buffer');
const net = binding('net');
const dns = binding('dns');
const { codes } = require('internal/codes');
const { validateArray, validateInt32, validateString } = require('internal/validators');
const { question, answer } = require('internal/dns/wire');

const PORT = 53;
const TIMEOUT = 5000;
const TRIES = 4;

const REFUSALS = ['', 'EFORMERR', 'ESERVFAIL', 'ENOTFOUND', 'ENOTIMP', 'EREFUSED'];

const randomId = () => Math.floor(Math.random() * 0x10000);

// `1.2.3.4`, `1.2.3.4:53`, `::1`, `[::1]:53`.
function serverOf(text) {
  if (net.isIP(text)) return { address: text, port: PORT };
  const [, inside, port] = /^\[([^[\]]*)\](?::(\d+))?$/.exec(text.slice(0, 100)) ?? /^([^:]*):(\d+)$/.exec(text.slice(0, 100)) ?? [];
  if (!inside || !net.isIP(inside)) throw new codes.ERR_INVALID_IP_ADDRESS(text.slice(0, 100));
  return { address: inside, port: Number(port || PORT) };
}

class Channel {
  constructor({ timeout, tries } = {}) {
    if (timeout !== undefined) validateInt32(timeout, 'options.timeout', -1);
    if (tries !== undefined) validateInt32(tries, 'options.tries', 1);
    this.timeout = timeout === undefined || timeout < 0 ? TIMEOUT : Math.max(timeout, 1);
    this.tries = tries ?? TRIES;
    this.local = { 4: undefined, 6: undefined };
    this.pending = new Set();
    this.servers = undefined;
  }

  get list() {
    return this.servers ??= (dns.servers().length > 0 ? dns.servers() : ['127.0.0.1']).map(serverOf);
  }

  getServers() {
    return this.list.map(({ address, port }) => {
      const text = dns.text(address) ?? address;
      if (port === PORT) return text;
      return net.isIP(text) === 6 ? `[${text}]:${port}` : `${text}:${port}`;
    });
  }

  setServers(servers) {
    validateArray(servers, 'servers');
    const list = [];
    servers.forEach((server, index) => {
      validateString(server, `servers[${index}]`);
      list.push(serverOf(server));
    });
    if (this.pending.size > 0) {
      const { make } = require('internal/codes');
      const Failed = make('ERR_DNS_SET_SERVERS_FAILED', Error, (why, all) => `c-ares failed to set servers: "${why}" [${all}]`);
      throw new Failed('There are pending queries.', servers);
    }
    this.servers = list;
  }

  setLocalAddress(first, second) {
    validateString(first, 'ipv4');
    if (second !== undefined) validateString(second, 'ipv6');
    const kinds = [first, second].filter((address) => address !== undefined).map((address) => net.isIP(address));
    if (kinds.includes(0)) throw new Error('Invalid IP address.');
    if (kinds[0] === kinds[1]) throw new Error(`Cannot specify two IPv${kinds[0]} addresses.`);
    this.local = { 4: undefined, 6: undefined, [kinds[0]]: first };
    if (second !== undefined) this.local[kinds[1]] = second;
  }

  cancel() {
    for (const query of [...this.pending]) query.finish('ECANCELLED');
  }

  // Asks; then `done(code, records)`, with `undefined` for the code if all is well.
  ask(name, type, done) {
    const query = new Query(this, name, type, done);
    this.pending.add(query);
    process.nextTick(() => query.start());
  }
}

class Query {
  constructor(channel, name, type, done) {
    this.channel = channel;
    this.name = name;
    this.type = type;
    this.done = done;
    this.count = 0;
    this.socket = undefined;
    this.timer = undefined;
    this.failure = 'ETIMEOUT';
    this.id = randomId();
  }

  start() {
    if (this.done === undefined) return;
    // Names of that network are not for the others.
    if (/(^|\.)onion\.?$/i.test(this.name)) this.finish('ENOTFOUND');
    else if ((this.bytes = question(this.id, this.name, this.type)) === undefined) this.finish('EBADNAME');
    else this.next();
  }

  // Asks the next server, or the first once more, and waits longer.
  next() {
    this.forget();
    if (this.done === undefined) return;
    const { list, tries, timeout, local } = this.channel;
    if (list.length === 0 || this.count >= tries * list.length) {
      this.finish(list.length === 0 ? 'ECONNREFUSED' : this.failure);
      return;
    }
    const round = Math.floor(this.count / list.length);
    const { address, port } = list[this.count++ % list.length];
    const family = net.isIP(address);
    const socket = this.socket = dgram.createSocket(family === 6 ? 'udp6' : 'udp4');
    const fail = () => {
      if (socket !== this.socket) return;
      this.failure = 'ECONNREFUSED';
      this.next();
    };
    socket.on('error', fail);
    socket.on('message', (bytes) => {
      if (socket === this.socket) this.take(bytes, () => this.askByTcp({ host: address, port, localAddress: local[family] }));
    });
    this.timer = setTimeout(() => { this.failure = 'ETIMEOUT'; this.next(); }, timeout * 2 ** round);
    socket.bind(0, local[family], () => {
      socket.connect(port, address, (error) => {
        if (error) fail();
        else if (socket === this.socket) socket.send(this.bytes, (error) => { if (error) fail(); });
      });
    });
  }

  // The same server once more, which has as much time as it had for the datagram.
  askByTcp(to) {
    this.timer.refresh();
    this.close();
    const socket = this.socket = require('net').connect(to);
    const fail = () => {
      if (socket !== this.socket) return;
      this.failure = 'ECONNREFUSED';
      this.next();
    };
    socket.on('error', fail);
    socket.on('end', fail);
    // In front of each message stands its length.
    socket.once('connect', () => {
      socket.cork();
      socket.write(Buffer.from([this.bytes.length >> 8, this.bytes.length & 255]));
      socket.write(this.bytes);
      socket.uncork();
    });
    let got = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      got = Buffer.concat([got, chunk]);
      while (socket === this.socket && got.length >= 2 && got.length >= 2 + got.readUInt16BE(0)) {
        const end = 2 + got.readUInt16BE(0);
        this.take(got.subarray(2, end));
        got = got.subarray(end);
      }
    });
  }

  // `askForAll` is for an answer that is cut off.
  take(bytes, askForAll) {
    let said;
    try {
      said = answer(bytes);
    } catch {
      // Whoever does not even know the number has nothing to do with it.
      if (bytes.length >= 2 && bytes.readUInt16BE(0) === this.id) this.finish('EBADRESP');
      return;
    }
    const { id, isAnswer, asked, code, records } = said;
    const isOurs = id === this.id && isAnswer && asked?.type === this.type && asked.name.toLowerCase() === this.name.replace(/\.$/, '').toLowerCase();
    if (!isOurs) return;
    if (said.isCut && askForAll !== undefined) {
      askForAll();
      return;
    }
    if (code === 0 || code === 3) {
      this.finish(code === 3 ? 'ENOTFOUND' : undefined, records);
      return;
    }
    // Another server may know better.
    this.failure = REFUSALS[code] ?? 'ESERVFAIL';
    if (this.count >= this.channel.list.length) this.finish(this.failure);
    else this.next();
  }

  forget() {
    clearTimeout(this.timer);
    this.close();
  }

  close() {
    const { socket } = this;
    this.socket = undefined;
    if (socket === undefined) return;
    if (socket instanceof dgram.Socket) socket.removeAllListeners('message');
    else socket.removeAllListeners('data');
    try {
      if (socket instanceof dgram.Socket) socket.close();
      else socket.destroy();
    } catch { /* It is closed already. */ }
  }

  finish(code, records) {
    const { done } = this;
    if (done === undefined) return;
    this.done = undefined;
    this.forget();
    this.channel.pending.delete(this);
    done(code, records);
  }
}

module.exports = { Channel };
