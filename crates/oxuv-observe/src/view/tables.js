function table(id, heads, lines) {
  const row = (cells, tag, span) => {
    const line = document.createElement('tr');
    cells.forEach((cell, nth) => {
      const place = document.createElement(tag);
      place.textContent = cell;
      if (heads[nth].startsWith('#')) place.className = 'n';
      line.append(place);
    });
    if (span !== undefined) {
      line.dataset.at = span.begin;
      line.addEventListener('click', () => { go(span); canvas.scrollIntoView({ block: 'nearest' }); });
    }
    return line;
  };
  $(id).replaceChildren(row(heads.map((head) => head.replace('#', '')), 'th'), ...lines.map(({ cells, span }) => row(cells, 'td', span)));
  for (const [nth, head] of heads.entries()) if (head.startsWith('#')) $(id).rows[0].cells[nth].className = 'n';
}

function histogram(id, values) {
  const bounds = [10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1e6, Infinity];
  const counts = bounds.map(() => 0);
  for (const value of values) counts[bounds.findIndex((bound) => value < bound)]++;
  const most = Math.max(...counts, 1);
  const cells = [];
  counts.forEach((count, nth) => {
    if (count === 0 && (nth > counts.findLastIndex((other) => other > 0) || nth < counts.findIndex((other) => other > 0))) return;
    const low = nth === 0 ? 0 : bounds[nth - 1];
    const label = document.createElement('span');
    label.textContent = bounds[nth] === Infinity ? `${time(low)} or more` : `below ${time(bounds[nth])}`;
    const box = document.createElement('div');
    const bar = document.createElement('i');
    bar.style.width = `${count / most * 100}%`;
    box.append(bar);
    const number = document.createElement('span');
    number.className = 'n';
    number.textContent = count;
    cells.push(label, box, number);
  });
  $(id).replaceChildren(...cells);
}

const callbacks = spans.filter((span) => span.cat === 'callback' && !span.isShared);
const turns = spans.filter((span) => span.cat === 'turn');
const waits = spans.filter((span) => span.cat === 'wait');
const longest = [...callbacks].sort((a, b) => (b.end - b.begin) - (a.end - a.begin)).slice(0, 20);
table('longest', ['#took', 'callback', 'from', '#at'], longest.map((span) => ({ span,
  cells: [span.isOpen ? 'under way' : time(span.end - span.begin), span.name, span.args.origin ?? '', time(span.begin - first)] })));

function sums(list, key) {
  const found = new Map();
  for (const span of list) {
    const sum = found.get(span[key]) ?? { count: 0, total: 0, longest: 0 };
    const length = span.end - span.begin;
    sum.count++;
    sum.total += length;
    sum.longest = Math.max(sum.longest, length);
    found.set(span[key], sum);
  }
  return [...found].sort((a, b) => b[1].total - a[1].total);
}
const sumCells = ([name, { count, total, longest: most }]) => ({ cells: [name, count, time(total), time(total / count), time(most)] });
table('kinds', ['kind', '#count', '#all', '#mean', '#longest'], sums(callbacks, 'name').map(sumCells));
const lanes = [];
for (const row of rows.filter(({ tid }) => tid < 8)) {
  for (const sum of sums(row.list, 'name')) lanes.push(sumCells([`${row.name}: ${sum[0]}`, sum[1]]));
}
table('lanes', ['lane', '#count', '#all', '#mean', '#longest'], lanes);

// What of each turn was no wait. Both are in order on their track.
const busy = [];
const waitsOf = new Map();
for (const wait of waits.sort((a, b) => a.begin - b.begin)) {
  if (!waitsOf.has(wait.tid)) waitsOf.set(wait.tid, []);
  waitsOf.get(wait.tid).push(wait);
}
const nextWait = new Map();
for (const turn of turns.sort((a, b) => a.begin - b.begin)) {
  let length = turn.end - turn.begin;
  const list = waitsOf.get(turn.tid) ?? [];
  let nth = nextWait.get(turn.tid) ?? 0;
  for (; nth < list.length && list[nth].begin < turn.end; nth++) {
    if (list[nth].begin >= turn.begin) length -= list[nth].end - list[nth].begin;
  }
  nextWait.set(turn.tid, nth);
  busy.push(Math.max(length, 0));
}
histogram('turns', busy);
// Whoever waits for the loop waits for all that a callback is.
histogram('delays', spans.filter((span) => span.cat === 'callback' && !span.isInner).map((span) => span.end - span.begin));

const busyTime = busy.reduce((sum, length) => sum + length, 0);
const waited = waits.reduce((sum, wait) => sum + wait.end - wait.begin, 0);
const numbers = { turns: turns.length, callbacks: callbacks.length, jobs: spans.filter((span) => span.cat === 'pool' && span.name === 'runs').length, time: time(last - first), busy: time(busyTime),
  waiting: time(waited), utilisation: `${(busyTime / (busyTime + waited || 1) * 100).toFixed(1)} %` };
for (const [name, value] of Object.entries(numbers)) {
  const cell = document.createElement('span');
  const number = document.createElement('b');
  number.id = `n-${name}`;
  number.textContent = value;
  cell.append(number, name);
  $('sum').append(cell);
}
$('problems').textContent = problems.join(' ');
$('title').textContent = document.title = `${programName}, process ${pid}`;
draw();
