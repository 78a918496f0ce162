// Rows: in each track as many as spans lie over each other, up to so many.
const MOST_ROWS = 8;
const rows = [];
for (const tid of [...tracks.keys()].sort((a, b) => (a < 8 ? a + 1e9 : a) - (b < 8 ? b + 1e9 : b))) {
  const list = tracks.get(tid).sort((a, b) => a.begin - b.begin || b.end - a.end);
  const ends = [];
  const isNested = tid >= 8;
  const open = [];
  for (const span of list) {
    let depth;
    if (isNested) {
      while (open.length > 0 && open.at(-1).end <= span.begin) open.pop();
      depth = open.length;
      // A callback of the loop's that is several of a script's is told of by those.
      if (span.args.part && depth > 0) [span.isInner, open.at(-1).isShared] = [true, true];
      open.push(span);
    } else {
      depth = ends.findIndex((end) => end <= span.begin);
      if (depth < 0) depth = ends.length;
    }
    span.depth = Math.min(depth, MOST_ROWS - 1);
    ends[span.depth] = span.end;
  }
  const depth = list.reduce((most, span) => Math.max(most, span.depth + 1), 1);
  rows.push({ tid, list, depth, name: names.get(tid) ?? `track ${tid}` });
}

const canvas = $('time');
const ROW = 17;
const TITLE = 18;
const AXIS = 22;
let from = first;
let to = last;
let chosen = null;
let matches = [];
let matchAt = -1;
let matched = new Set();

function colour(span) {
  if (matched.size > 0 && !matched.has(span)) return '#8883';
  if (span.cat !== 'callback') return COLOURS.get(span.name) ?? '#888';
  let hash = 0;
  for (const letter of span.args.origin ?? span.name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return `hsl(${hash % 360} 55% 52%)`;
}

// Those of a list, in order of their beginnings, that may be seen.
function seen(list, longest) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle].begin < from - longest) low = middle + 1; else high = middle;
  }
  return low;
}
for (const row of rows) row.longest = row.list.reduce((most, span) => Math.max(most, span.end - span.begin), 0);

function draw() {
  const width = canvas.clientWidth;
  const height = AXIS + rows.reduce((sum, row) => sum + TITLE + row.depth * ROW + 4, 0);
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.height = `${height}px`;
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  const ink = getComputedStyle(document.body).color;
  const x = (at) => (at - from) / (to - from) * width;
  pen.font = '11px system-ui, sans-serif';
  pen.textBaseline = 'middle';
  const step = 10 ** Math.floor(Math.log10((to - from) / 4));
  // They are forty at most. Where numbers are too coarse for them, they are the same.
  for (let nth = 0, begin = Math.ceil((from - first) / step); nth < 40; nth++) {
    const at = (begin + nth) * step;
    if (at > to - first) break;
    pen.fillStyle = '#8883';
    pen.fillRect(x(at + first), 0, 1, height);
    pen.fillStyle = ink;
    if (x(at + first + step) - x(at + first) > 60 || (begin + nth) % 5 === 0) pen.fillText(time(at), x(at + first) + 3, 10);
  }
  let top = AXIS;
  for (const row of rows) {
    row.top = top + TITLE;
    pen.fillStyle = ink;
    pen.fillText(row.name, 4, top + TITLE / 2);
    const ends = [];
    for (let nth = seen(row.list, row.longest); nth < row.list.length; nth++) {
      const span = row.list[nth];
      if (span.begin > to) break;
      if (span.end < from) continue;
      const left = Math.max(x(span.begin), 0);
      const right = Math.min(Math.max(x(span.end), left + 1), width);
      // What lies within a pixel that is drawn already.
      if (right <= (ends[span.depth] ?? -1) && span !== chosen && !matched.has(span)) continue;
      ends[span.depth] = right;
      const y = row.top + span.depth * ROW;
      pen.fillStyle = span === chosen ? '#e8590c' : colour(span);
      pen.fillRect(left, y, right - left, ROW - 2);
      if (right - left > 34) {
        pen.save();
        pen.beginPath();
        pen.rect(left, y, right - left - 2, ROW);
        pen.clip();
        pen.fillStyle = '#fff';
        const origin = span.args.origin ? ` ${span.args.origin.split('/').at(-1)}` : '';
        pen.fillText(span.name === 'turn' ? `turn ${span.args.number}` : span.name + origin, left + 3, y + ROW / 2 - 1);
        pen.restore();
      }
    }
    top = row.top + row.depth * ROW + 4;
  }
}

function tell(span) {
  chosen = span;
  const said = Object.entries(span.args).filter(([name]) => name !== 'part');
  const args = said.map(([name, value]) => `${name} ${value}`).join(', ');
  const length = span.isOpen ? 'under way when the trace ended' : time(span.end - span.begin);
  $('told').textContent = `${span.name} (${span.cat}), ${length}, at ${time(span.begin - first)}${args ? `\n${args}` : ''}`;
}

function show(begin, end) {
  const least = 0.5;
  if (end - begin < least) end = begin + least;
  [from, to] = [Math.max(begin, first), Math.min(end, Math.max(last, begin + least))];
  draw();
}

function go(span) {
  tell(span);
  const length = Math.max(span.end - span.begin, 10);
  show(span.begin - length, span.end + length);
}

function at(event) {
  const box = canvas.getBoundingClientRect();
  const moment = from + (event.clientX - box.left) / box.width * (to - from);
  const slack = (to - from) / box.width * 2;
  for (const row of rows) {
    const depth = Math.floor((event.clientY - box.top - row.top) / ROW);
    if (depth < 0 || depth >= row.depth) continue;
    return row.list.find((span) => span.depth === depth && span.begin - slack <= moment && moment <= span.end + slack);
  }
  return undefined;
}

canvas.addEventListener('wheel', (event) => {
  event.preventDefault();
  const box = canvas.getBoundingClientRect();
  const part = (event.clientX - box.left) / box.width;
  const moment = from + part * (to - from);
  const length = Math.min((to - from) * 1.002 ** event.deltaY, last - first);
  show(moment - part * length, moment + (1 - part) * length);
}, { passive: false });
let drag = null;
canvas.addEventListener('pointerdown', (event) => {
  drag = { x: event.clientX, from, to, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', (event) => {
  if (drag === null) return;
  const shift = (event.clientX - drag.x) / canvas.clientWidth * (drag.to - drag.from);
  if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
  if (!drag.moved) return;
  const begin = Math.min(Math.max(drag.from - shift, first), last - (drag.to - drag.from));
  show(begin, begin + drag.to - drag.from);
});
canvas.addEventListener('pointerup', (event) => {
  if (drag !== null && !drag.moved) {
    const span = at(event);
    if (span !== undefined) tell(span);
    draw();
  }
  drag = null;
});
window.addEventListener('resize', draw);
$('all').addEventListener('click', () => show(first, last));
$('search').addEventListener('input', () => {
  const text = $('search').value.toLowerCase();
  const has = (span) => `${span.name} ${span.args.origin ?? ''}`.toLowerCase().includes(text);
  matches = text === '' ? [] : spans.filter(has).sort((a, b) => a.begin - b.begin);
  matched = new Set(matches);
  matchAt = -1;
  $('found').textContent = text === '' ? '' : `${matches.length} found`;
  draw();
});
const next = () => {
  if (matches.length === 0) return;
  matchAt = (matchAt + 1) % matches.length;
  $('found').textContent = `${matchAt + 1} of ${matches.length}`;
  go(matches[matchAt]);
};
$('next').addEventListener('click', next);
$('search').addEventListener('keydown', (event) => { if (event.key === 'Enter') next(); });

