// Several runs: curves with medians and quartiles by label, and two containers cell by cell.
import { Table } from './api.js';
import { CurvesBoard } from './curves.js';
import { Slot } from './detail.js';
import { announce, fill_select, fitted_context, is_dark, make, style_colour } from './dom.js';
import { number_text, ticks } from './maths.js';
import { group_colour } from './palette.js';

const kMost = 48;  // runs whose curves are held
const kTicked = 24;  // and shown unasked
const kCases = ['only A', 'A is better', 'equal', 'B is better', 'only B'];

/** The best of each cell: rows of `container`, -1 where nobody is. */
export function best_of_cells(container, axes, grid) {
  const cells = new Int32Array(grid.columns * grid.rows).fill(-1);
  const truth = container.columns.ground_truth;
  const fitness = container.columns.fitness.values;
  const place = (value, axis, count) => {
    if (!(value >= axis.lower && value <= axis.upper)) return -1;
    return Math.min(Math.floor((count * (value - axis.lower)) / (axis.upper - axis.lower)), count - 1);
  };
  for (let i = 0; i < container.count; ++i) {
    const column = place(truth.values[i * truth.components], axes[0], grid.columns);
    const row = place(truth.values[i * truth.components + 1], axes[1], grid.rows);
    if (column < 0 || row < 0) continue;
    const cell = row * grid.columns + column;
    if (cells[cell] < 0 || fitness[i] > fitness[cells[cell]]) cells[cell] = i;
  }
  return cells;
}

/** Which of the five cases each cell is (-1: nobody), how often, and what it sums up to. */
export function compare_cells(a, b, axes, grid, worst) {
  const best_a = best_of_cells(a, axes, grid);
  const best_b = best_of_cells(b, axes, grid);
  const cases = new Int8Array(best_a.length).fill(-1);
  const counts = [0, 0, 0, 0, 0];
  const sums = { qd_a: 0, qd_b: 0, difference: 0, both: 0 };
  for (let cell = 0; cell < cases.length; ++cell) {
    const has_a = best_a[cell] >= 0;
    const has_b = best_b[cell] >= 0;
    const of_a = has_a ? a.columns.fitness.values[best_a[cell]] : NaN;
    const of_b = has_b ? b.columns.fitness.values[best_b[cell]] : NaN;
    if (has_a) sums.qd_a += of_a - worst;
    if (has_b) sums.qd_b += of_b - worst;
    if (!has_a && !has_b) continue;
    if (has_a && has_b) {
      ++sums.both;
      sums.difference += of_a - of_b;
    }
    cases[cell] = !has_b ? 0 : !has_a ? 4 : of_a > of_b ? 1 : of_a < of_b ? 3 : 2;
    ++counts[cases[cell]];
  }
  return { best_a, best_b, cases, counts, sums };
}

export class Compare {
  constructor(elements, api) {
    this.elements = elements;
    this.api = api;
    this.runs = [];
    this.chosen = new Set();
    this.ticked = false;  // by somebody: until then the ticks follow the run that is looked at
    this.paired = false;  // the same for A and B
    this.tables = new Map();
    this.board = new CurvesBoard(elements.board, 'Tick runs above to see their curves.');
    this.pair = [null, null];
    this.loaded = [null, null];
    this.cell = -1;
    this.result = null;
    this.visible = false;
    this.slots = [0, 1].map(() => new Slot(api, 'Behaviour of the best of this cell', 'square'));
    this.build();
  }

  build() {
    this.rows = make('tbody');
    this.elements.list.append(make('table', { class: 'runs-table' },
      make('thead', {}, make('tr', {}, ...['', 'Run', 'Label', 'Seed', 'State', 'Iteration', 'Individuals', 'Coverage'].map((text) => make('th', { scope: 'col', text })))), this.rows));
    this.selects = ['A', 'B'].map((letter, i) => {
      const select = make('select', { 'aria-label': `Container ${letter}` });
      select.addEventListener('change', () => {
        this.pair[i] = Number(select.value);
        this.paired = true;
        this.compare();
      });
      return select;
    });
    this.canvas = make('canvas', { 'aria-hidden': 'true' });
    this.frame = make('div', { class: 'cells-frame', tabindex: '0', role: 'application', 'aria-roledescription': 'grid of cells', 'aria-label': 'Who is better where' }, this.canvas);
    this.frame.addEventListener('pointermove', (event) => this.point(this.cell_at(event)));
    this.frame.addEventListener('pointerleave', () => this.point(-1));
    this.frame.addEventListener('click', (event) => this.open_cell(this.cell_at(event)));
    this.frame.addEventListener('keydown', (event) => this.key(event));
    this.words = make('p', { class: 'cells-words', 'aria-live': 'polite' });
    this.numbers = make('div', { class: 'cells-numbers' });
    this.pictures = make('div', { class: 'cells-pictures', hidden: true });
    this.elements.cells.append(
      make('div', { class: 'block-head' }, make('h2', { text: 'Cell by cell' }),
        make('label', {}, make('span', { class: 'tag tag-a', text: 'A' }), this.selects[0]),
        make('label', {}, make('span', { class: 'tag tag-b', text: 'B' }), this.selects[1])),
      make('div', { class: 'cells' }, make('div', {}, this.frame, this.words), make('div', {}, this.numbers, this.pictures)));
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  /** The list of runs, as often as it is asked for; `current` is the one that is looked at. */
  async set_runs(runs, current) {
    this.runs = runs;
    const usable = runs.filter((run) => run.state !== 'broken');
    const here = usable.find((run) => run.id === current) || usable[0];
    const alike = here ? usable.filter((run) => run.task === here.task) : [];
    if (!this.ticked) this.chosen = new Set((alike.length <= kTicked ? alike : [here]).map((run) => run.id));
    if (!this.paired && here) {
      const others = alike.filter((run) => run.id !== here.id);
      this.pair = [here.id, (others.find((run) => run.label !== here.label) || others[0] || here).id];
    }
    const entries = usable.map((run) => ({ value: run.id, text: run.name }));
    this.selects.forEach((select, i) => fill_select(select, entries, this.pair[i]));
    this.list();
    if (this.visible) await this.refresh();
  }

  labels() {
    return [...new Set(this.runs.filter((run) => run.state !== 'broken').map((run) => this.label_of(run)))];
  }

  /** What a run is pooled under: runs of different tasks never are. */
  label_of(run) {
    const label = run.label || run.variant || run.name;
    return this.runs.some((other) => other.task !== run.task) ? `${label}, ${run.task}` : label;
  }

  list() {
    const labels = this.labels();
    const signature = JSON.stringify([this.runs, [...this.chosen], is_dark()]);
    if (signature === this.listed) return;
    this.listed = signature;
    const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.run : undefined;
    this.rows.replaceChildren(...this.runs.map((run) => {
      const box = make('input', { type: 'checkbox', 'aria-label': `Curves of ${run.name}`, 'data-run': String(run.id) });
      box.checked = this.chosen.has(run.id);
      box.disabled = run.state === 'broken';
      box.addEventListener('change', () => {
        if (box.checked) this.chosen.add(run.id);
        else this.chosen.delete(run.id);
        this.ticked = true;
        this.refresh();
      });
      const label = this.label_of(run);
      const dot = make('span', { class: 'dot', 'aria-hidden': 'true' });
      dot.style.background = group_colour(labels.indexOf(label), is_dark());
      return make('tr', { class: run.state === 'broken' ? 'broken' : '' },
        make('td', {}, box), make('td', { text: run.name }), make('td', {}, dot, make('span', { text: label })),
        make('td', { text: run.seed === undefined ? '' : String(run.seed) }), make('td', { text: run.error || run.state }),
        make('td', { class: 'number', text: number_text(run.iteration) }), make('td', { class: 'number', text: number_text(run.size) }),
        make('td', { class: 'number', text: Number.isFinite(run.coverage) ? `${number_text(run.coverage)} %` : '–' }));
    }));
    if (focused !== undefined) {
      const again = this.rows.querySelector(`input[data-run="${CSS.escape(focused)}"]`);
      if (again) again.focus();
    }
  }

  async refresh() {
    for (const id of [...this.tables.keys()]) if (!this.chosen.has(id)) this.tables.delete(id);
    const wanted = [...this.chosen].slice(0, kMost);
    for (const id of wanted) {
      const run = this.runs.find((one) => one.id === id);
      if (!run) continue;
      let table = this.tables.get(id);
      if (!table) {
        table = new Table((from) => this.api.metrics(id, from), 1000);
        this.tables.set(id, table);
      }
      const state = `${run.state} ${run.iteration}`;
      if (table.state === state && table.rows.length) continue;
      try {
        await table.refresh();
        table.state = state;
      } catch {
        table.state = null;  // asked again at the next poll
      }
    }
    await this.compare();
    this.draw_curves();
  }

  draw_curves() {
    const labels = this.labels();
    const groups = labels
      .map((label, i) => ({
        label,
        colour: group_colour(i, is_dark()),
        tables: this.runs.filter((run) => this.label_of(run) === label && this.tables.has(run.id)).map((run) => this.tables.get(run.id)),
      }))
      .filter(({ tables }) => tables.length > 0);
    this.elements.legend.replaceChildren(...groups.map(({ label, colour, tables }) => {
      const dot = make('span', { class: 'dot', 'aria-hidden': 'true' });
      dot.style.background = colour;
      const words = tables.length > 1 ? `${label}: median and quartiles of ${tables.length}` : label;
      return make('li', {}, dot, make('span', { text: words }));
    }));
    const { summary } = (this.loaded[0] || {}).info || {};
    this.board.show(groups, { skip: ['evaluations', 'container_updates'], units: (summary && summary.units) || {} });
  }

  /** True if it is another one than before. */
  async container_of(i) {
    const id = this.pair[i];
    const run = this.runs.find((one) => one.id === id);
    const stamp = JSON.stringify(run);
    const held = this.loaded[i] && this.loaded[i].id === id ? this.loaded[i] : null;
    if (held && held.stamp === stamp && run.state !== 'running') return false;
    const info = await this.api.run(id);
    if (!info.current) throw new Error(`${run.name} has no container yet.`);
    const container = await this.api.container(id, null, held ? held.container.etag : undefined);
    this.loaded[i] = { id, stamp, info, container: container || held.container };
    return Boolean(container);
  }

  async compare() {
    if (this.pair[0] === null || this.pair[1] === null) return;
    const pair = this.pair.join(' ');
    try {
      const changed = [await this.container_of(0), await this.container_of(1)];
      if (pair !== this.pair.join(' ')) return;
      if (this.result && !changed.includes(true) && this.compared === pair) return;
      const [a, b] = this.loaded;
      if (!a.info.task || !b.info.task) throw new Error('This program does not know the task of these runs.');
      const axes = a.info.task.axes.slice(0, 2);
      if (JSON.stringify(axes) !== JSON.stringify(b.info.task.axes.slice(0, 2)))
        throw new Error('These two are runs of different tasks: their cells mean different things.');
      if (axes.length < 2) throw new Error('The task has no two axes to lay a grid over.');
      this.grid = a.info.grid || { columns: 40, rows: 40 };
      this.axes = axes;
      this.result = compare_cells(a.container, b.container, axes, this.grid, a.info.task.worst_fitness ?? 0);
      if (this.compared !== pair) this.close_cell();
      this.compared = pair;
      this.words.textContent = '';
      this.show_numbers();
    } catch (problem) {
      this.result = null;
      this.compared = null;
      this.numbers.replaceChildren();
      this.words.textContent = problem.message;
    }
    this.draw();
  }

  case_colours() {
    return is_dark() ? ['#3f9be0', '#1d5a8c', '#5b6675', '#8a4a17', '#f0813a'] : ['#0072b2', '#8fc3e3', '#b9c0ca', '#f2b98c', '#d55e00'];
  }

  show_numbers() {
    const { counts, sums, best_a, best_b } = this.result;
    const cells = best_a.length;
    const filled = (best) => best.reduce((sum, row) => sum + (row >= 0 ? 1 : 0), 0);
    const colours = this.case_colours();
    const total = counts.reduce((sum, count) => sum + count, 0) || 1;
    const table = make('table', { class: 'cases' }, make('tbody', {}, ...kCases.map((name, i) => {
      const swatch = make('span', { class: 'swatch', 'aria-hidden': 'true' });
      swatch.style.background = colours[i];
      const bar = make('span', { class: 'bar', 'aria-hidden': 'true' });
      bar.style.width = `${(100 * counts[i]) / total}%`;
      bar.style.background = colours[i];
      return make('tr', {}, make('th', { scope: 'row' }, swatch, make('span', { text: name })), make('td', { class: 'number', text: number_text(counts[i]) }), make('td', { class: 'bar-cell' }, bar));
    })));
    const line = (name, a, b) => make('tr', {}, make('th', { scope: 'row', text: name }), make('td', { class: 'number', text: a }), make('td', { class: 'number', text: b }));
    const totals = make('table', { class: 'totals' },
      make('thead', {}, make('tr', {}, make('th'), make('th', { scope: 'col', class: 'number', text: 'A' }), make('th', { scope: 'col', class: 'number', text: 'B' }))),
      make('tbody', {},
        line('Individuals', number_text(this.loaded[0].container.count), number_text(this.loaded[1].container.count)),
        line('Cells filled', number_text(filled(best_a)), number_text(filled(best_b))),
        line('Coverage', `${number_text((100 * filled(best_a)) / cells)} %`, `${number_text((100 * filled(best_b)) / cells)} %`),
        line('QD score', number_text(sums.qd_a, 6), number_text(sums.qd_b, 6))));
    const mean = sums.both ? sums.difference / sums.both : NaN;
    const words = sums.both
      ? `Where both are, ${number_text(sums.both)} cells, A is ${number_text(Math.abs(mean))} ${mean >= 0 ? 'fitter' : 'less fit'} on average.`
      : 'There is no cell with both.';
    this.numbers.replaceChildren(table, totals, make('p', { class: 'quiet', text: words }));
  }

  inner() {
    const width = this.frame.clientWidth;
    const height = this.frame.clientHeight;
    return { left: 46, top: 6, width: width - 56, height: height - 44, outer: [width, height] };
  }

  draw() {
    const { left, top, width, height, outer } = this.inner();
    if (outer[0] === 0 || outer[1] === 0) return;
    const context = fitted_context(this.canvas, ...outer);
    if (!this.result) return;
    const { columns, rows } = this.grid;
    const colours = this.case_colours();
    const [across, up] = this.axes;
    const w = width / columns;
    const h = height / rows;
    context.fillStyle = style_colour('--wash');
    context.fillRect(left, top, width, height);
    for (let cell = 0; cell < this.result.cases.length; ++cell) {
      if (this.result.cases[cell] < 0) continue;
      const [x, y] = this.corner(cell);
      context.fillStyle = colours[this.result.cases[cell]];
      context.fillRect(left + x * w, top + y * h, w - (w > 4 ? 0.75 : 0), h - (h > 4 ? 0.75 : 0));
    }
    if (this.cell >= 0) {
      const [x, y] = this.corner(this.cell);
      context.strokeStyle = style_colour('--ink');
      context.lineWidth = 2;
      context.strokeRect(left + x * w - 1, top + y * h - 1, w + 1, h + 1);
    }
    context.font = `11px ${style_colour('--font')}`;
    context.fillStyle = style_colour('--muted');
    context.textAlign = 'center';
    context.textBaseline = 'top';
    for (const tick of ticks(across.lower, across.upper, width / 90))
      context.fillText(number_text(tick), left + ((tick - across.lower) / (across.upper - across.lower)) * width, top + height + 5);
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const tick of ticks(up.lower, up.upper, height / 70)) {
      const share = (tick - up.lower) / (up.upper - up.lower);
      context.fillText(number_text(tick), left - 6, top + (up.downwards ? share : 1 - share) * height);
    }
    context.fillStyle = style_colour('--ink');
    context.textAlign = 'center';
    context.textBaseline = 'bottom';
    context.fillText(`${across.name}${across.unit ? ` (${across.unit})` : ''}`, left + width / 2, outer[1] - 1);
    context.translate(8, top + height / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = 'middle';
    context.fillText(`${up.name}${up.unit ? ` (${up.unit})` : ''}`, 0, 0);
  }

  /** Column and line on the screen. */
  corner(cell) {
    const { columns, rows } = this.grid;
    const row = Math.floor(cell / columns);
    return [cell % columns, this.axes[1].downwards ? row : rows - 1 - row];
  }

  cell_at(event) {
    if (!this.result) return -1;
    const box = this.frame.getBoundingClientRect();
    const { left, top, width, height } = this.inner();
    const { columns, rows } = this.grid;
    const x = Math.floor(((event.clientX - box.left - left) / width) * columns);
    const y = Math.floor(((event.clientY - box.top - top) / height) * rows);
    if (x < 0 || y < 0 || x >= columns || y >= rows) return -1;
    return (this.axes[1].downwards ? y : rows - 1 - y) * columns + x;
  }

  members(cell) {
    const rows = [this.result.best_a[cell], this.result.best_b[cell]];
    return rows.map((row, i) => {
      if (row < 0) return null;
      const { columns } = this.loaded[i].container;
      return { id: columns.id.values[row], fitness: columns.fitness.values[row] };
    });
  }

  point(cell) {
    if (!this.result || cell === this.cell) return;
    this.cell = cell;
    this.draw();
    if (cell < 0) {
      this.words.textContent = '';
      return;
    }
    const [a, b] = this.members(cell);
    const text = (one) => (one ? `${number_text(one.fitness)} (individual ${one.id})` : 'nobody');
    this.words.textContent = a || b ? `A: ${text(a)} · B: ${text(b)}` : 'Nobody is in this cell.';
  }

  open_cell(cell) {
    if (cell < 0 || !this.result) return;
    const members = this.members(cell);
    if (!members[0] && !members[1]) {
      this.close_cell();
      return;
    }
    announce(this.words.textContent);
    this.pictures.hidden = false;
    this.pictures.replaceChildren(...members.map((one, i) => {
      const caption = make('figcaption', {}, make('span', { class: `tag tag-${'ab'[i]}`, text: 'AB'[i] }), make('span', { text: one ? `individual ${one.id}, fitness ${number_text(one.fitness)}` : 'nobody here' }));
      if (one) this.slots[i].load(this.pair[i], 'picture', one.id, null);
      else this.slots[i].clear();
      return make('figure', {}, this.slots[i].element, caption);
    }));
  }

  close_cell() {
    this.pictures.hidden = true;
    this.slots.forEach((slot) => slot.clear());
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!this.result || event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) {
      const { columns, rows } = this.grid;
      const [x, y] = this.cell < 0 ? [Math.floor(columns / 2), Math.floor(rows / 2)] : this.corner(this.cell);
      const column = Math.max(0, Math.min(columns - 1, x + moves[event.key][0]));
      const line = Math.max(0, Math.min(rows - 1, y + moves[event.key][1]));
      this.point((this.axes[1].downwards ? line : rows - 1 - line) * columns + column);
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.open_cell(this.cell);
    } else {
      return;
    }
    event.preventDefault();
  }

  async set_visible(visible) {
    this.visible = visible;
    if (visible) await this.refresh();
  }

  repaint() {
    this.listed = null;
    this.list();
    if (!this.visible) return;
    this.draw_curves();
    if (this.result) this.show_numbers();
    this.draw();
  }
}
