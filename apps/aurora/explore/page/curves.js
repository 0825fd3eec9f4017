// Curves of numbers over the iterations: small charts with a shared cross-hair, medians and
// quartiles where several runs bear the same label.
import { number_text, quantiles, short_text, ticks } from './maths.js';
import { fitted_context, make, style_colour } from './dom.js';

const kPad = { left: 54, right: 12, top: 8, bottom: 24 };
const kGridPoints = 400;

/** "grid_mean_fitness" for people. */
export function column_title(name, units = {}) {
  const words = name.replace(/_/g, ' ');
  return units[name] ? `${words} (${units[name]})` : words;
}

/** Several {xs, ys} as one: the median and quartiles of those that have a value there. */
export function summarize(curves) {
  if (curves.length === 1) return { xs: curves[0].xs, ys: curves[0].ys };
  let xs = [...new Set(curves.flatMap((curve) => curve.xs))].sort((a, b) => a - b);
  if (xs.length > kGridPoints) {
    const all = xs;
    xs = Array.from({ length: kGridPoints }, (_, i) => all[Math.round((i * (all.length - 1)) / (kGridPoints - 1))]);
  }
  const low = [];
  const ys = [];
  const high = [];
  for (const x of xs) {
    const values = curves.map((curve) => value_at(curve, x)).filter(Number.isFinite);
    const [a, b, c] = quantiles(values, [0.25, 0.5, 0.75]);
    low.push(a);
    ys.push(b);
    high.push(c);
  }
  return { xs, ys, low, high };
}

/** Between two rows on the straight line, beyond both ends nothing. */
function value_at({ xs, ys }, x) {
  let a = 0;
  let b = xs.length - 1;
  if (b < 0 || x < xs[a] || x > xs[b]) return NaN;
  while (b - a > 1) {
    const middle = (a + b) >> 1;
    if (xs[middle] <= x) a = middle;
    else b = middle;
  }
  if (xs[b] === x || a === b) return ys[b];
  return xs[a] === x ? ys[a] : ys[a] + ((ys[b] - ys[a]) * (x - xs[a])) / (xs[b] - xs[a]);
}

class Chart {
  constructor(title, board) {
    this.title = title;
    this.board = board;
    this.series = [];
    this.value = make('span', { class: 'chart-value' });
    this.canvas = make('canvas', { class: 'chart-canvas', 'aria-hidden': 'true' });
    this.frame = make('div', { class: 'chart-frame', tabindex: '0', role: 'img' }, this.canvas);
    this.element = make('figure', { class: 'chart' },
      make('figcaption', {}, make('span', { class: 'chart-title', text: title }), this.value), this.frame);
    this.frame.addEventListener('pointermove', (event) => {
      const box = this.frame.getBoundingClientRect();
      this.point_at(event.clientX - box.left);
    });
    this.frame.addEventListener('pointerleave', () => board.point(null));
    this.frame.addEventListener('blur', () => board.point(null));
    this.frame.addEventListener('keydown', (event) => this.key(event));
  }

  point_at(px) {
    if (!this.range) return;
    const [low, high] = this.range.x;
    const share = (px - kPad.left) / (this.frame.clientWidth - kPad.left - kPad.right);
    this.board.point(low + Math.max(0, Math.min(1, share)) * (high - low));
  }

  key(event) {
    if (!this.range || !['ArrowLeft', 'ArrowRight', 'Escape'].includes(event.key)) return;
    event.preventDefault();
    const [low, high] = this.range.x;
    const at = this.board.pointed === null ? high : this.board.pointed;
    const step = ((high - low) / 40) * (event.key === 'ArrowLeft' ? -1 : 1);
    this.board.point(event.key === 'Escape' ? null : Math.max(low, Math.min(high, at + step)));
  }

  set(series) {
    this.series = series;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { xs, ys, low: lows, high: highs } of series) {
      for (let i = 0; i < xs.length; ++i) {
        left = Math.min(left, xs[i]);
        right = Math.max(right, xs[i]);
        for (const y of lows ? [lows[i], highs[i]] : [ys[i]])
          if (Number.isFinite(y)) {
            low = Math.min(low, y);
            high = Math.max(high, y);
          }
      }
    }
    if (low > high) {
      this.range = null;
    } else {
      if (low >= 0 && low < 0.5 * high) low = 0;
      const more = (high - low) * 0.05 || Math.abs(high) * 0.05 || 0.5;
      this.range = { x: [left, right > left ? right : left + 1], y: [low === 0 ? 0 : low - more, high + more] };
    }
    this.draw();
  }

  draw() {
    const width = this.frame.clientWidth;
    const height = this.frame.clientHeight;
    if (width === 0 || height === 0) return;
    const context = fitted_context(this.canvas, width, height);
    const font = style_colour('--font');
    const muted = style_colour('--muted');
    const line = style_colour('--line');
    context.font = `10.5px ${font}`;
    if (!this.range) {
      context.fillStyle = muted;
      context.fillText('no values yet', kPad.left, height / 2);
      this.value.textContent = '–';
      this.frame.setAttribute('aria-label', `${this.title}: no values yet`);
      return;
    }
    const { x, y } = this.range;
    const w = width - kPad.left - kPad.right;
    const h = height - kPad.top - kPad.bottom;
    const px = (value) => kPad.left + ((value - x[0]) / (x[1] - x[0])) * w;
    const py = (value) => kPad.top + h - ((value - y[0]) / (y[1] - y[0])) * h;
    context.strokeStyle = line;
    context.fillStyle = muted;
    context.lineWidth = 1;
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const tick of ticks(y[0], y[1], h / 26)) {
      const at = Math.round(py(tick)) + 0.5;
      context.beginPath();
      context.moveTo(kPad.left, at);
      context.lineTo(width - kPad.right, at);
      context.stroke();
      context.fillText(short_text(tick), kPad.left - 7, at);
    }
    context.textBaseline = 'top';
    context.textAlign = 'center';
    for (const tick of ticks(x[0], x[1], w / 62)) context.fillText(short_text(tick), Math.min(px(tick), width - 14), height - kPad.bottom + 8);

    for (const series of this.series) {
      if (series.low) {
        context.beginPath();
        series.xs.forEach((value, i) => context.lineTo(px(value), py(series.high[i])));
        for (let i = series.xs.length - 1; i >= 0; --i) context.lineTo(px(series.xs[i]), py(series.low[i]));
        context.closePath();
        context.globalAlpha = 0.18;
        context.fillStyle = series.colour;
        context.fill();
        context.globalAlpha = 1;
      }
      context.strokeStyle = series.colour;
      context.lineWidth = 1.75;
      context.lineJoin = 'round';
      context.beginPath();
      let broken = true;
      for (let i = 0; i < series.xs.length; ++i) {
        if (!Number.isFinite(series.ys[i])) {
          broken = true;
          continue;
        }
        if (broken) context.moveTo(px(series.xs[i]), py(series.ys[i]));
        else context.lineTo(px(series.xs[i]), py(series.ys[i]));
        broken = false;
      }
      context.stroke();
      if (series.dots || series.xs.length === 1) {
        context.fillStyle = series.colour;
        series.xs.forEach((value, i) => {
          context.beginPath();
          context.arc(px(value), py(series.ys[i]), 2.5, 0, 2 * Math.PI);
          context.fill();
        });
      }
    }

    const at = this.board.pointed;
    const pointed = at !== null && at >= x[0] && at <= x[1];
    const values = this.series.map((series) => {
      const last = series.ys.length - 1;
      return pointed ? value_at(series, at) : series.ys[last];
    });
    if (pointed) {
      context.strokeStyle = style_colour('--muted');
      context.lineWidth = 1;
      context.setLineDash([3, 3]);
      context.beginPath();
      context.moveTo(px(at), kPad.top);
      context.lineTo(px(at), kPad.top + h);
      context.stroke();
      context.setLineDash([]);
      this.series.forEach((series, i) => {
        if (!Number.isFinite(values[i])) return;
        context.beginPath();
        context.arc(px(at), py(values[i]), 3.5, 0, 2 * Math.PI);
        context.fillStyle = series.colour;
        context.fill();
      });
    }
    const text = values.map((value) => number_text(value)).join(' · ');
    this.value.textContent = this.series.length > 3 && !pointed ? '' : text;
    this.value.title = pointed ? `at ${number_text(Math.round(at))}` : 'newest';
    this.frame.setAttribute('aria-label', `${this.title}, ${number_text(Math.round(pointed ? at : x[1]))} on the horizontal axis: ${text}`);
  }
}

/** A board of charts, one for each column. */
export class CurvesBoard {
  constructor(element, empty_text) {
    this.element = element;
    this.empty = make('p', { class: 'quiet', text: empty_text });
    this.charts = new Map();
    this.pointed = null;
    new ResizeObserver(() => this.draw()).observe(element);
  }

  /** `groups`: [{label, colour, tables}]; `only`, `skip`: which columns; `x`: the column across. */
  show(groups, { x = 'iteration', skip = [], only = null, units = {}, dots = false } = {}) {
    const names = [];
    for (const { tables } of groups)
      for (const table of tables)
        for (const name of table.columns)
          if (name !== x && (!only || only.includes(name)) && !skip.includes(name) && !names.includes(name)) names.push(name);
    for (const name of [...this.charts.keys()])
      if (!names.includes(name)) {
        this.charts.get(name).element.remove();
        this.charts.delete(name);
      }
    for (const name of names)
      if (!this.charts.has(name)) this.charts.set(name, new Chart(column_title(name, units), this));
    const order = names.map((name) => this.charts.get(name).element);
    const wanted = order.length ? order : [this.empty];
    if (wanted.length !== this.element.children.length || wanted.some((child, i) => this.element.children[i] !== child))
      this.element.replaceChildren(...wanted);
    for (const name of names) {
      const series = [];
      for (const { colour, tables } of groups) {
        const curves = tables
          .map((table) => ({ xs: table.column(x) || [], ys: table.column(name) || [] }))
          .filter((curve) => curve.xs.length > 0 && curve.ys.length > 0);
        if (curves.length) series.push({ ...summarize(curves), colour, dots });
      }
      this.charts.get(name).set(series);
    }
  }

  point(at) {
    if (at === this.pointed) return;
    this.pointed = at;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  draw() {
    for (const chart of this.charts.values()) chart.draw();
  }
}

/** Where the time went: one bar, and its parts in words. */
export function show_phases(element, seconds, colour_of) {
  const parts = Object.entries(seconds || {}).filter(([name, value]) => name !== 'total' && value > 0);
  if (parts.length === 0) {
    element.replaceChildren(make('p', { class: 'quiet', text: 'Known when the run has ended.' }));
    return;
  }
  const sum = parts.reduce((all, [, value]) => all + value, 0);
  const total = Math.max(seconds.total || 0, sum);
  if (total - sum > 0.005 * total) parts.push(['rest', total - sum]);
  parts.sort((a, b) => b[1] - a[1]);
  const bar = make('div', { class: 'phases-bar', 'aria-hidden': 'true' });
  const list = make('ul', { class: 'phases-list' });
  parts.forEach(([name, value], i) => {
    const piece = make('span', { title: name });
    piece.style.flexGrow = String(value);
    piece.style.background = colour_of(i);
    bar.append(piece);
    const dot = make('span', { class: 'dot', 'aria-hidden': 'true' });
    dot.style.background = colour_of(i);
    list.append(make('li', {}, dot, make('span', { text: name }),
      make('b', { text: duration_text(value) }), make('span', { class: 'quiet', text: `${number_text((100 * value) / total, 3)} %` })));
  });
  element.replaceChildren(bar, list, make('p', { class: 'quiet', text: `${duration_text(total)} in all` }));
}

export function duration_text(seconds) {
  if (!Number.isFinite(seconds)) return '–';
  if (seconds < 60) return `${number_text(seconds, 3)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}
