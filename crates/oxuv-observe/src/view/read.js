// The trace as it stands in the page, read with care: whoever wrote it may have meant ill, or have been stopped.
'use strict';
const $ = (id) => document.getElementById(id);
const COLOURS = new Map(Object.entries({ turn: '#8a939e', wait: '#c3cad2', poll: '#4c8dd6', timers: '#e0a526', check: '#3fa66b',
  pending: '#b07bd6', idle: '#d67b7b', prepare: '#56b3b3', closing: '#a0795a', queued: '#d9b38c', runs: '#2f9e8f' }));

// What cannot be shown, in words.
const problems = [];

// The records; of a trace that was cut off, those that are whole.
function recordsOf(text) {
  const list = (json) => {
    const value = JSON.parse(json);
    return Array.isArray(value) ? value : [];
  };
  try {
    return list(text);
  } catch {
    problems.push('The trace is not whole: it is shown as far as it goes.');
  }
  const end = text.lastIndexOf('\n{');
  try {
    return list(`${text.slice(0, Math.max(end, 0)).trim().replace(/,$/, '')}]`);
  } catch {
    problems.push('Nothing of it can be read.');
    return [];
  }
}

// Microseconds, of thirty years at most.
const isTime = (value) => Number.isFinite(value) && value >= 0 && value < 1e15;
const LONGEST_TEXT = 400;
const text = (value) => (typeof value === 'string' ? value.slice(0, LONGEST_TEXT) : '');
const plain = (value) => (['number', 'boolean'].includes(typeof value) ? value : text(value));

function detailsOf(args) {
  if (args === null || typeof args !== 'object') return {};
  const details = Object.entries(args).slice(0, 20).map(([name, value]) => [text(name), plain(value)]);
  // `__proto__` is a name like others.
  return { __proto__: null, ...Object.fromEntries(details) };
}

const records = recordsOf($('trace').textContent);
const names = new Map();
let programName = 'a program';
let pid = 0;
// Spans by track: { begin, end, name, cat, args, isOpen }.
const tracks = new Map();
const jobs = new Map();
const spans = [];
const MOST_TRACKS = 100;

function add(tid, begin, end, name, cat, args, isOpen = false) {
  if (!tracks.has(tid)) {
    if (tracks.size === MOST_TRACKS) return false;
    tracks.set(tid, []);
  }
  // Sums of microseconds are not exact: where one ends and the next begins is to be the same.
  const span = { tid, begin, end: Math.round(end * 1000) / 1000, name: text(name), cat: text(cat), args, isOpen };
  tracks.get(tid).push(span);
  spans.push(span);
  return true;
}

// False if it is no record that this page knows.
function take(record) {
  if (record === null || typeof record !== 'object' || !Number.isSafeInteger(record.tid)) return false;
  const { ph, tid, ts, name } = record;
  if (ph === 'M') {
    const called = text(record.args?.name);
    if (name === 'process_name') [programName, pid] = [called, Number.isSafeInteger(record.pid) ? record.pid : 0];
    else names.set(tid, called);
    return true;
  }
  if (!isTime(ts)) return false;
  if (ph === 'X') {
    if (!isTime(record.dur)) return false;
    return add(tid, ts, ts + record.dur, name, record.cat, detailsOf(record.args), record.dur === 0 && record.cat === 'callback');
  }
  const job = `${plain(record.id)} ${text(name)}`;
  if (ph === 'b') {
    jobs.set(job, ts);
    return true;
  }
  const begun = jobs.get(job);
  if (ph !== 'e' || begun === undefined || begun > ts) return false;
  return add(tid, begun, ts, name, 'pool', { job: plain(record.id) });
}

const unknown = records.reduce((count, record) => count + Number(!take(record)), 0);
if (unknown > 0) problems.push(`${unknown} of its ${records.length} records are none that this page knows.`);
if (spans.length === 0) problems.push('There is nothing to show in it.');
if ($('cut').textContent === 'true') problems.push('It is too long for a page: this is its beginning.');

let first = Infinity;
let last = 0;
for (const { begin, end } of spans) {
  first = Math.min(first, begin);
  last = Math.max(last, end);
}
if (spans.length === 0) [first, last] = [0, 1];
// A span without an end may be the one that the program died in, or was at when the trace ended. Its length is not known.
for (const span of spans) span.isOpen &&= span.begin >= last - 1;

const time = (us) => us >= 1e6 ? `${(us / 1e6).toFixed(2)} s` : us >= 1000 ? `${(us / 1000).toFixed(2)} ms` : `${us.toFixed(1)} µs`;

