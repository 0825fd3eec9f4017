// The page: what is looked at, and who tells whom. Asks once a second for what changed.
//
// An export has to open from a file, where browsers take no modules: bundle.cpp makes one script of
// these, and understands imports and exports that begin a line, in the forms used here.
import { Table, open_api } from './api.js';
import { Compare } from './compare.js';
import { CurvesBoard, duration_text, show_phases } from './curves.js';
import { Detail } from './detail.js';
import { announce, by_id, debounced, fill_select, is_dark, make, show_if } from './dom.js';
import { Keys } from './keys.js';
import { component, number_text, principal_components, quantiles, robust_range } from './maths.js';
import { Morph } from './morph.js';
import { colour_range, colours_of, draw_ramp, group_colour, palette_names, ramp } from './palette.js';
import { Scatter, has_graphics_card } from './scatter.js';
import { Timeline } from './timeline.js';

const kPoll = 1000;
const kHeldSnapshots = 6;
const kTabs = ['behaviours', 'progress', 'compare'];

class Page {
  constructor() {
    this.api = open_api();
    this.runs = [];
    this.run_id = null;
    this.info = null;
    this.container = null;
    this.at = null;
    this.selected = null;  // an id
    this.lassoed = null;  // rows of the container
    this.tab = 'behaviours';
    this.colour = 'fitness';
    this.palette = 'viridis';
    this.mode = 'move';
    this.point_scale = 1;
    this.snapshots = new Map();
    this.truth_axes = [0, 1];
    this.latent_axes = ['d0', 'd1'];
    this.serial = 0;

    const events = (name) => ({
      hover: (row) => this.hover(row, name),
      pick: (row) => this.select_row(row, ''),
      empty: (row, x, y) => this.select_row(row, `Nobody is at ${number_text(x)}, ${number_text(y)}: this is the nearest.`),
      lasso: (rows) => this.set_lassoed(rows),
      line: (view, segment) => this.show_line(view, segment),
      describe: (row) => this.describe(row),
    });
    this.truth = new Scatter(by_id('truth'), 'Individuals in ground-truth space', events('truth'));
    this.latent = new Scatter(by_id('latent'), 'Individuals in latent space', events('latent'));
    this.views = [this.truth, this.latent];
    this.detail = new Detail(by_id('detail'), this.api, {
      choose: (id) => this.select_id(id),
      step: (by) => this.step_order(by),
      close: () => this.deselect(),
    });
    this.morph = new Morph(by_id('morph'), this.api, {
      choose: (id) => this.select_id(id),
      hover: (id) => this.hover(id === null ? -1 : this.row_of(id), ''),
      closed: () => this.views.forEach((view) => view.clear_line()),
    });
    this.timeline = new Timeline(by_id('timeline'), (at) => this.go_to(at));
    this.metrics_board = new CurvesBoard(by_id('metrics'), 'No row of metrics.csv yet.');
    this.overview_board = new CurvesBoard(by_id('overview'), '');
    this.training_board = new CurvesBoard(by_id('training'), 'No encoder was trained, or not yet.');
    this.compare = new Compare({ list: by_id('compare-list'), board: by_id('compare-board'), legend: by_id('compare-legend'), cells: by_id('compare-cells') }, this.api);
    this.wire();
    this.read_place();
  }

  // ---- wiring

  wire() {
    by_id('run').addEventListener('change', (event) => this.open_run(Number(event.target.value)));
    by_id('colour').addEventListener('change', (event) => this.set_colour(event.target.value));
    by_id('palette').addEventListener('change', (event) => this.set_palette(event.target.value));
    fill_select(by_id('palette'), palette_names.map((name) => ({ value: name, text: name })), this.palette);
    by_id('reset').addEventListener('click', () => this.views.forEach((view) => view.go_home()));
    by_id('modes').addEventListener('click', (event) => event.target.dataset.mode && this.set_mode(event.target.dataset.mode));
    for (const axis of [0, 1]) {
      by_id(`truth-${'xy'[axis]}`).addEventListener('change', (event) => {
        this.truth_axes[axis] = Number(event.target.value);
        this.fill_views();
      });
      by_id(`latent-${'xy'[axis]}`).addEventListener('change', (event) => {
        this.latent_axes[axis] = event.target.value;
        this.fill_views();
      });
    }
    const tabs = kTabs.map((name) => by_id(`tab-${name}`));
    tabs.forEach((tab, i) => {
      tab.addEventListener('click', () => this.set_tab(kTabs[i]));
      tab.addEventListener('keydown', (event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!by) return;
        event.preventDefault();
        const next = (i + by + tabs.length) % tabs.length;
        this.set_tab(kTabs[next]);
        tabs[next].focus();
      });
    });
    let theme = null;
    try {
      theme = localStorage.getItem('aurora-theme');
    } catch {
      // a browser that keeps nothing
    }
    if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
    by_id('theme').addEventListener('click', () => this.toggle_theme());
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.repaint());
    window.addEventListener('resize', debounced(() => this.detail.draw_genes(), 100));
    document.addEventListener('visibilitychange', () => {
      if (!document.hidden) this.poll();
    });
    by_id('peek').addEventListener('click', () => by_id('detail').scrollIntoView({ block: 'start' }));
    this.keys = new Keys(this.key_actions());
    by_id('help').addEventListener('click', () => this.keys.open());
  }

  key_actions() {
    const next_of = (list, value, by = 1) => list[(list.indexOf(value) + by + list.length) % list.length];
    return [
      { keys: ['1', '2', '3'], text: 'behaviours, progress, compare', run: (key) => this.set_tab(kTabs[Number(key) - 1]) },
      { keys: ['g', 'h'], text: 'go to the ground truth, to latent space', run: (key) => this.focus_view(key === 'g' ? this.truth : this.latent) },
      { keys: ['m', 'l', 'n'], text: 'dragging moves, lassos, draws a line', run: (key) => this.set_mode({ m: 'move', l: 'lasso', n: 'line' }[key]) },
      { keys: ['b'], text: 'the best individual', run: () => this.container && this.container.count && this.select_row(this.order[0], '') },
      { keys: ['[', ']'], text: 'the next fitter, the next less fit', run: (key) => this.step_order(key === '[' ? -1 : 1) },
      { keys: ['f'], text: 'film or picture', run: () => this.detail.set_kind(this.detail.kind === 'film' ? 'picture' : 'film') },
      { keys: ['y'], text: 'copy the command of this individual', run: () => this.selected !== null && this.detail.copy_command() },
      { keys: ['c', 'C'], text: 'the next, the previous colouring', run: (key) => this.set_colour(next_of(this.fields().map(({ value }) => value), this.colour, key === 'c' ? 1 : -1)) },
      { keys: ['p'], text: 'the next palette', run: () => this.set_palette(next_of(palette_names, this.palette)) },
      { keys: [',', '.'], text: 'smaller, larger points', run: (key) => this.set_point_scale(this.point_scale * (key === ',' ? 0.8 : 1.25)) },
      { keys: ['k'], text: 'play the snapshots, or pause', run: () => this.timeline.toggle() },
      { keys: ['<', '>'], text: 'the snapshot before, after', run: (key) => this.timeline.step(key === '<' ? -1 : 1) },
      { keys: ['u', 'i'], text: 'the run before, after', run: (key) => this.step_run(key === 'u' ? -1 : 1) },
      { keys: ['t'], text: 'dark or light', run: () => this.toggle_theme() },
      { keys: ['Escape'], text: 'close: the lasso, the line, the individual', run: () => this.escape() },
      { keys: ['?'], text: 'this list', run: () => this.keys.open() },
    ];
  }

  focus_view(view) {
    this.set_tab('behaviours');
    view.element.focus();
  }

  escape() {
    if (this.lassoed) this.set_lassoed(null);
    else if (!by_id('morph').hidden) this.morph.close();
    else this.deselect();
  }

  toggle_theme() {
    const theme = is_dark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem('aurora-theme', theme);
    } catch {
      // then it is forgotten
    }
    this.repaint();
  }

  repaint() {
    this.paint_points();
    this.views.forEach((view) => view.redraw());
    this.detail.draw_genes();
    this.show_progress();
    this.compare.repaint();
  }

  set_tab(tab) {
    this.tab = tab;
    for (const name of kTabs) {
      by_id(`tab-${name}`).setAttribute('aria-selected', String(name === tab));
      by_id(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
    }
    this.show_panels();
    this.show_progress();
    this.compare.set_visible(tab === 'compare');
    this.write_place();
  }

  show_panels() {
    for (const name of kTabs) show_if(by_id(name), name === this.tab && !this.message_covers(name));
    show_if(by_id('message'), Boolean(this.message) && this.message_covers(this.tab));
  }

  /** A run without a container still has curves; without any run there is nothing at all. */
  message_covers(tab) {
    if (!this.message) return false;
    if (tab === 'compare') return this.runs.length === 0;
    return tab === 'behaviours' || !this.info;
  }

  set_message(title, ...paragraphs) {
    this.message = title || null;
    if (title) by_id('message').replaceChildren(make('h2', { text: title }), ...paragraphs.map((paragraph) => (typeof paragraph === 'string' ? make('p', { text: paragraph }) : paragraph)));
    this.show_panels();
  }

  /** #run=1&id=4860&tab=progress: a place that can be kept. */
  write_place() {
    const place = new URLSearchParams();
    if (this.run_id !== null) place.set('run', this.run_id);
    if (this.selected !== null) place.set('id', this.selected);
    if (this.tab !== 'behaviours') place.set('tab', this.tab);
    if (location.hash.includes('draw=webgl2')) place.set('draw', 'webgl2');
    try {
      history.replaceState(null, '', `${location.pathname}${location.search}#${place}`);
    } catch {
      // some browsers forbid it for files
    }
  }

  read_place() {
    const place = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (/^\d+$/.test(place.get(name) || '') ? Number(place.get(name)) : null);
    this.wish = { run: number('run'), id: number('id') };
    if (kTabs.includes(place.get('tab'))) this.set_tab(place.get('tab'));
  }

  // ---- asking

  async start() {
    for (;;) {
      await this.poll();
      if (!this.api.live) return;
      await new Promise((resolve) => setTimeout(resolve, this.lost ? 2 * kPoll : kPoll));
    }
  }

  async poll() {
    if (this.polling || (document.hidden && this.container)) return;
    this.polling = true;
    try {
      const answer = await this.api.runs();
      this.lost = false;
      this.runs = answer.runs;
      this.show_runs();
      if (this.runs.length === 0) {
        this.show_nothing();
      } else {
        if (this.run_id === null || !this.entry()) {
          const wished = this.runs.find((run) => run.id === this.wish.run);
          const newest = this.runs.find((run) => run.state === 'running') || this.runs.find((run) => run.state !== 'broken');
          await this.open_run((wished || newest || this.runs[0]).id);
        } else {
          await this.refresh_run();
        }
        await this.compare.set_runs(this.runs, this.run_id);
      }
    } catch (problem) {
      this.lost = problem.status === 0 || problem.status === undefined;
      if (problem.status === undefined) console.error(problem);
      if (!this.container) this.set_message('No answer', problem.message, 'Is the program that serves this page still running? This page asks again by itself.');
    } finally {
      this.polling = false;
    }
    this.show_state();
  }

  entry() {
    return this.runs.find((run) => run.id === this.run_id);
  }

  async open_run(id) {
    const serial = ++this.serial;
    this.run_id = id;
    this.info = null;
    this.container = null;
    this.at = null;
    this.snapshots.clear();
    this.timeline.stop();
    this.timeline.stops = [];
    this.clear_selection();
    this.backdrop = undefined;  // not known yet
    this.metrics = new Table((from) => this.api.metrics(id, from));
    this.training = new Table((from) => this.api.training(id, from));
    this.views.forEach((view) => (view.moved = false));
    this.truth_axes = [0, 1];
    this.latent_axes = null;
    this.stamp = null;
    by_id('run').value = String(id);
    await this.refresh_run(serial);
    if (serial !== this.serial) return;
    if (this.wish.id !== null && this.container && this.row_of(this.wish.id) >= 0) this.select_id(this.wish.id);
    this.wish.id = null;
    this.write_place();
    this.show_state();
    if (!this.polling) await this.compare.set_runs(this.runs, id);  // a poll does so when it is done
  }

  async refresh_run(serial = this.serial) {
    const entry = this.entry();
    const id = this.run_id;
    const stamp = JSON.stringify(entry);
    if (stamp === this.stamp && entry.state !== 'running') return;
    if (entry.state === 'broken') {
      this.show_broken(entry, entry.error);
      this.stamp = stamp;
      return;
    }
    const first = !this.info;
    if (first) this.load_backdrop(id, serial);
    let info;
    try {
      info = await this.api.run(id);
    } catch (problem) {
      if (serial !== this.serial || problem.status === 0) throw problem;
      this.show_broken(entry, problem.message);
      this.stamp = stamp;
      return;
    }
    const newest = this.at === null ? await this.ask_newest(id, info.current) : null;
    if (serial !== this.serial) return;
    this.info = { ...info, id };
    if (!info.task) {  // one that this program does not know
      this.info.task = { name: entry.task, axes: [] };
      this.info.cannot_draw = (info.notes || [])[0] || 'This program does not know the task.';
    }
    if (newest && newest.container) await this.add_novelty(newest.container, id, null);
    if (serial !== this.serial) return;
    if (newest && this.at === null) this.take_newest(newest, entry);
    this.show_about();
    this.set_timeline();
    const grown = [await this.refresh_table(this.metrics), await this.refresh_table(this.training)];
    if (serial !== this.serial) return;
    this.show_about();
    if (grown.includes(true) || first) this.show_progress();
    this.stamp = stamp;
  }

  async refresh_table(table) {
    try {
      return await table.refresh();
    } catch (problem) {
      if (problem.status === 0) throw problem;
      return false;
    }
  }

  /** Nobody waits for it. */
  async load_backdrop(id, serial) {
    let image = null;
    try {
      image = await this.api.backdrop(id);
    } catch {
      // then there is none
    }
    if (serial !== this.serial) return;
    this.backdrop = image;
    if (this.container) this.fill_views();
  }

  /** {container}, null in it if it is the one that is shown; {missing} if there is none. */
  async ask_newest(id, current) {
    if (!current) return { missing: 'Nothing was kept of it so far: the first snapshot or checkpoint is to come.' };
    try {
      return { container: await this.api.container(id, null, this.container ? this.container.etag : undefined) };
    } catch (problem) {
      if (problem.status === 0) throw problem;
      return { missing: problem.message };
    }
  }

  take_newest({ container, missing }, entry) {
    if (container && (container.count > 0 || this.container)) this.set_container(container);
    else if (!this.container) this.show_empty(entry, missing || 'The container is empty so far.');
  }

  /** A snapshot, or with null the newest container. */
  async go_to(at) {
    if (at === this.at && this.container) return;
    const serial = this.serial;
    const id = this.run_id;
    this.at = at;
    let container = this.snapshots.get(at);
    if (!container || at === null) {
      try {
        container = await this.api.container(id, at);
      } catch (problem) {
        announce(problem.message);
        return;
      }
      if (at !== null) {
        this.snapshots.set(at, container);
        if (this.snapshots.size > kHeldSnapshots) this.snapshots.delete(this.snapshots.keys().next().value);
      }
    }
    await this.add_novelty(container, id, at);
    if (serial !== this.serial || at !== this.at) return;
    this.set_container(container);
  }

  /**
   * Novelty takes longest to compute of all that may colour a point, so it is asked for only where it
   * does.
   */
  async add_novelty(container, id, at) {
    if (this.colour !== 'novelty' || container.columns.novelty || !container.columns.descriptor) return;
    try {
      const values = await this.api.novelty(id, at, container.etag);
      if (values && values.length === container.count) container.columns.novelty = { values, components: 1 };
    } catch (problem) {
      announce(problem.message);
    }
  }

  set_timeline() {
    const entry = this.entry() || {};
    const current = this.info.current || {};
    const newest = { iteration: (this.at === null && this.container ? this.container.iteration : current.iteration) ?? entry.iteration ?? 0, size: this.at === null && this.container ? this.container.count : entry.size };
    this.timeline.set(this.info.snapshots || [], newest);
  }

  // ---- words for what is missing

  show_nothing() {
    this.run_id = null;
    this.info = null;
    this.set_message('No run here yet', 'A run is what the program writes while it searches. Start one, and it appears here by itself:',
      make('pre', { text: 'aurora run maze --out runs/demo' }), 'Then open this page with the folder it is in:', make('pre', { text: 'aurora explore runs' }));
  }

  show_broken(entry, message) {
    this.info = null;
    this.container = null;
    this.set_message('This run cannot be read', entry.name, make('pre', { text: message || entry.error || 'No reason is known.' }),
      'The other runs are not affected; choose one above. A closer look:', make('pre', { text: 'aurora verify RUN' }));
  }

  show_empty(entry, reason) {
    const waits = entry.state === 'running';
    this.set_message(waits ? 'The first container is on its way' : 'This run has no container',
      reason,
      waits ? 'The run is going on; this page looks again every second. Its curves are under Progress.' : 'It ended before it wrote one. Its curves, if there are any, are under Progress.');
  }

  show_runs() {
    const many = new Set(this.runs.map((run) => run.task)).size > 1;
    const sign = { running: ' · running', broken: ' · broken', interrupted: ' · interrupted' };
    fill_select(by_id('run'), this.runs.map((run) => ({ value: run.id, text: run.name + (sign[run.state] || ''), group: many ? run.task || 'unknown task' : undefined })), this.run_id);
    by_id('run').disabled = this.runs.length === 0;
  }

  show_state() {
    const entry = this.entry();
    const state = this.lost ? 'lost' : entry ? entry.state : '';
    const words = [];
    if (this.lost) words.push('no answer, trying again');
    else if (entry) {
      words.push(entry.state);
      if (entry.iterations) words.push(`${number_text(entry.iteration)} of ${number_text(entry.iterations)}`);
      if (entry.size !== undefined && entry.size !== null) words.push(`${number_text(entry.size)} individuals`);
    }
    const text = words.join(' · ');
    const element = by_id('state');
    element.dataset.state = state;
    if (element.textContent !== text) element.textContent = text;
    document.title = entry ? `${entry.name} – AURORA` : 'AURORA explore';
  }

  show_about() {
    const { info } = this;
    const entry = this.entry() || {};
    const summary = info.summary || {};
    const units = summary.units || {};
    const pairs = [['Task', info.task.title || info.task.name], ['Variant', entry.variant], ['Seed', entry.seed],
      ['Evaluations', summary.evaluations], ['Descriptor', info.descriptor && `${info.descriptor.kind || ''}, ${info.descriptor.dimension} numbers`.replace(/^, /, '')],
      ['Time', summary.seconds && summary.seconds.total !== undefined ? duration_text(summary.seconds.total) : null]];
    const values = summary.metrics || this.last_metrics();
    for (const [name, value] of Object.entries(values)) pairs.push([name.replace(/_/g, ' '), value, units[name]]);
    const text = (value, unit) => (typeof value === 'number' ? number_text(value) : String(value)) + (unit ? ` ${unit}` : '');
    const rows = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '')
      .flatMap(([name, value, unit]) => [make('dt', { text: name }), make('dd', { text: text(value, unit) })]);
    const signature = JSON.stringify([entry.name, entry.error, pairs, info.notes]);
    if (signature === this.about) return;
    this.about = signature;
    by_id('about').replaceChildren(make('h2', { text: entry.name || info.name || 'This run' }),
      make('p', { class: 'quiet', text: this.api.live ? 'Click a point to see what the robot does there.' : 'Click a ringed point to see what the robot does there.' }), make('dl', { class: 'numbers' }, ...rows),
      ...[entry.error, ...(info.notes || [])].filter(Boolean).map((note) => make('p', { class: 'note', text: note })));
  }

  last_metrics() {
    const row = this.metrics && this.metrics.rows[this.metrics.rows.length - 1];
    const wanted = ['coverage', 'grid_mean_fitness', 'qd_score', 'best_fitness', 'mean_fitness', 'threshold'];
    return row ? Object.fromEntries(this.metrics.columns.map((name, i) => [name, row[i]]).filter(([name, value]) => wanted.includes(name) && value !== null)) : {};
  }

  show_progress() {
    if (!this.metrics || this.tab === 'compare') return;
    const colour = group_colour(0, is_dark());
    const units = (this.info && this.info.summary && this.info.summary.units) || {};
    if (this.tab === 'behaviours') {
      this.overview_board.show([{ label: '', colour, tables: [this.metrics] }], { units, only: ['container_size', 'coverage', 'qd_score'] });
      return;
    }
    this.metrics_board.show([{ label: '', colour, tables: [this.metrics] }], { units, skip: ['evaluations'] });
    this.training_board.show([{ label: '', colour: group_colour(1, is_dark()), tables: [this.training] }], { dots: true });
    show_phases(by_id('phases'), this.info && this.info.summary && this.info.summary.seconds, (i) => group_colour(i, is_dark()));
  }

  // ---- the container in the two views

  set_container(container) {
    const kept = this.lassoed && this.container ? new Set(Array.from(this.lassoed, (row) => this.container.columns.id.values[row])) : null;
    const errors = container.columns.reconstruction_error;
    if (errors && errors.values.every((value) => value === 0)) delete container.columns.reconstruction_error;  // not measured
    this.container = container;
    this.rows_by_id = null;
    this.components = null;
    this.ordered = null;
    this.ranks = null;
    this.set_message(null);
    this.fill_axis_picks();
    fill_select(by_id('colour'), this.fields(), this.colour);
    if (!this.fields().some(({ value }) => value === this.colour)) this.colour = 'fitness';
    this.lassoed = null;
    this.fill_views();
    if (kept) {
      const ids = container.columns.id.values;
      this.set_lassoed(Uint32Array.from([...ids.keys()].filter((row) => kept.has(ids[row]))));
    }
    if (this.first_picture === undefined) requestAnimationFrame(() => requestAnimationFrame(() => this.picture_seen()));
  }

  /** The first picture does not wait for a graphics card; the next ones are drawn by it. */
  picture_seen() {
    if (this.first_picture !== undefined) return;
    this.first_picture = performance.now();
    const anyway = location.hash.includes('draw=webgl2');  // even if the processor has to do it
    setTimeout(() => {
      if (anyway || has_graphics_card()) this.views.forEach((view) => view.use_graphics_card());
    }, anyway ? 0 : 1500);
  }

  row_of(id) {
    if (!this.container) return -1;
    if (!this.rows_by_id) {
      this.rows_by_id = new Map();
      this.container.columns.id.values.forEach((value, row) => this.rows_by_id.set(value, row));
    }
    return this.rows_by_id.get(id) ?? -1;
  }

  /** Rows, the fittest first. */
  get order() {
    if (!this.ordered) {
      const fitness = this.container.columns.fitness.values;
      this.ordered = Uint32Array.from({ length: this.container.count }, (_, i) => i).sort((a, b) => fitness[b] - fitness[a] || a - b);
    }
    return this.ordered;
  }

  rank_of(row) {
    if (!this.ranks) {
      this.ranks = new Uint32Array(this.container.count);
      this.order.forEach((one, rank) => (this.ranks[one] = rank + 1));
    }
    return this.ranks[row];
  }

  /** What may colour a point. */
  fields() {
    const { columns } = this.container || { columns: {} };
    const out = [];
    const add = (value, text, group) => out.push({ value, text, group });
    if (columns.fitness) add('fitness', 'fitness', 'Search');
    if (columns.descriptor) add('novelty', 'novelty', 'Search');
    if (columns.reconstruction_error) add('reconstruction_error', 'reconstruction error', 'Search');
    if (columns.birth) add('birth', 'age (iteration of birth)', 'Search');
    if (columns.ground_truth)
      for (let k = 0; k < columns.ground_truth.components; ++k) add(`truth ${k}`, this.truth_axis(k).name, 'Ground truth');
    if (columns.descriptor)
      for (let k = 0; k < columns.descriptor.components; ++k) add(`descriptor ${k}`, this.descriptor_name(k), 'Descriptor');
    return out;
  }

  truth_axis(k) {
    return this.info.task.axes[k] || { name: `axis ${k + 1}`, unit: '' };
  }

  descriptor_name(k) {
    const names = (this.info.descriptor && this.info.descriptor.names) || [];
    return names[k] || `latent ${k + 1}`;
  }

  values_of(field) {
    const { columns } = this.container;
    const [name, k] = field.split(' ');
    const column = columns[column_name(name)];
    if (!column) return new Float32Array(this.container.count).fill(NaN);
    return component(column.values, column.components, k === undefined ? 0 : Number(k));
  }

  fill_axis_picks() {
    const { columns } = this.container;
    const truths = columns.ground_truth ? columns.ground_truth.components : 0;
    const entries = Array.from({ length: truths }, (_, k) => ({ value: k, text: this.truth_axis(k).name }));
    ['x', 'y'].forEach((letter, i) => fill_select(by_id(`truth-${letter}`), entries, this.truth_axes[i]));
    show_if(by_id('truth-picks'), truths > 2);
    const size = columns.descriptor ? columns.descriptor.components : 0;
    if (!this.latent_axes) this.latent_axes = size > 2 ? ['p0', 'p1'] : ['d0', size > 1 ? 'd1' : 'd0'];
    const latents = Array.from({ length: size }, (_, k) => ({ value: `d${k}`, text: this.descriptor_name(k), group: 'Descriptor' }));
    for (let k = 0; k < Math.min(size, 6); ++k) latents.unshift({ value: `p${k}`, text: `PC ${k + 1}`, group: 'Principal components' });
    latents.sort((a, b) => (a.value[0] === b.value[0] ? Number(a.value.slice(1)) - Number(b.value.slice(1)) : a.value[0] < b.value[0] ? 1 : -1));
    ['x', 'y'].forEach((letter, i) => fill_select(by_id(`latent-${letter}`), latents, this.latent_axes[i]));
    show_if(by_id('latent-picks'), size > 2);
    const learned = !this.info.descriptor || this.info.descriptor.kind !== 'hand-coded';
    by_id('latent-title').textContent = learned ? 'Latent space' : 'Descriptor space';
  }

  latent_values(name) {
    const column = this.container.columns.descriptor;
    const k = Number(name.slice(1));
    if (name[0] === 'd') return { values: component(column.values, column.components, k), axis: { name: this.descriptor_name(k), unit: '' } };
    if (!this.components) this.components = principal_components(column.values, column.components);
    const share = this.components.shares[k];
    return { values: this.components.scores(k), axis: { name: `principal component ${k + 1}, ${number_text(100 * share, 3)} % of the variance`, unit: '' } };
  }

  fill_views() {
    const { container } = this;
    const truth = container.columns.ground_truth;
    if (truth) {
      const axes = this.truth_axes.map((k) => this.truth_axis(k));
      const [xs, ys] = this.truth_axes.map((k) => component(truth.values, truth.components, k));
      const bounds = axes.flatMap((axis, i) => (axis.upper > axis.lower ? [axis.lower, axis.upper] : robust_range(i ? ys : xs)));
      const first_two = this.truth_axes[0] === 0 && this.truth_axes[1] === 1;
      const equal = axes[0].unit === axes[1].unit && first_two;
      this.truth.set_data(xs, ys, axes, padded(this.backdrop === null || !first_two ? closer(bounds, xs, ys) : bounds), {
        equal, backdrop: this.backdrop && first_two ? { image: this.backdrop, bounds } : null,
      });
    }
    if (container.columns.descriptor) {
      const [x, y] = this.latent_axes.map((name) => this.latent_values(name));
      this.latent.set_data(x.values, y.values, [x.axis, y.axis], [...robust_range(x.values), ...robust_range(y.values)]);
    }
    this.paint_points();
    this.views.forEach((view) => view.set_lit(this.lassoed));
    if (!this.api.live) {
      const rings = this.api.pictured(this.info.id).map((id) => this.row_of(id)).filter((row) => row >= 0);
      this.views.forEach((view) => view.set_rings(rings));
    }
    if (this.selected !== null) {
      const row = this.row_of(this.selected);
      if (row >= 0) this.mark_selected(row, this.detail.note.hidden ? '' : this.detail.note.textContent);
      else this.views.forEach((view) => view.set_selected(-1));
    }
    if (this.morph.ids && this.morph.ids.length) {
      const rows = this.morph.ids.map((id) => this.row_of(id)).filter((row) => row >= 0);
      this.views.forEach((view) => view.set_stops(rows));
    }
  }

  paint_points() {
    if (!this.container) return;
    const values = this.values_of(this.colour);
    const range = colour_range(values);
    const colours = ramp(this.palette, is_dark());
    const bytes = colours_of(values, range, colours);
    this.views.forEach((view) => view.set_colours(bytes));
    draw_ramp(by_id('ramp'), colours);
    const field = this.fields().find(({ value }) => value === this.colour);
    const step = 10 ** Math.floor(Math.log10(range.high - range.low) - 2);  // finer numbers say no more
    const text = (value) => number_text(Number((Math.round(value / step) * step).toPrecision(10)));
    by_id('legend-low').textContent = (range.clipped_low ? '≤ ' : '') + text(range.low);
    by_id('legend-middle').textContent = text((range.low + range.high) / 2);
    by_id('legend-high').textContent = (range.clipped_high ? '≥ ' : '') + text(range.high);
    by_id('legend').setAttribute('aria-label', `${field ? field.text : this.colour}: dark is ${number_text(range.low)}, bright is ${number_text(range.high)}`);
  }

  async set_colour(field) {
    if (!this.container) return;
    this.colour = field;
    by_id('colour').value = field;
    const { container } = this;
    if (field === 'novelty' && !container.columns.novelty) by_id('legend-middle').textContent = '…';
    await this.add_novelty(container, this.run_id, this.asked_at());
    if (container === this.container && field === this.colour) this.paint_points();
  }

  set_palette(name) {
    this.palette = name;
    by_id('palette').value = name;
    this.paint_points();
  }

  set_mode(mode) {
    this.mode = mode;
    for (const button of by_id('modes').children) button.setAttribute('aria-pressed', String(button.dataset.mode === mode));
    this.views.forEach((view) => view.set_mode(mode));
  }

  set_point_scale(scale) {
    this.point_scale = Math.max(0.4, Math.min(4, scale));
    this.views.forEach((view) => view.set_point_scale(this.point_scale));
  }

  // ---- individuals

  numbers_of(row, neighbours) {
    const { columns } = this.container;
    const out = [];
    const one = (name, title) => columns[name] && out.push([title, number_text(columns[name].values[row], 6)]);
    one('fitness', 'fitness');
    if (neighbours.length) out.push(['novelty', number_text(neighbours.reduce((sum, { distance }) => sum + distance, 0) / neighbours.length, 6)]);
    one('reconstruction_error', 'reconstruction error');
    one('birth', 'born in iteration');
    const each = (name, title) => {
      if (!columns[name]) return;
      const { values, components } = columns[name];
      for (let k = 0; k < components; ++k) out.push(title(k, number_text(values[row * components + k], 5)));
    };
    each('ground_truth', (k, text) => [this.truth_axis(k).name, this.truth_axis(k).unit ? `${text} ${this.truth_axis(k).unit}` : text]);
    each('descriptor', (k, text) => [this.descriptor_name(k), text]);
    return out;
  }

  describe(row) {
    if (!this.container) return [];
    const { columns } = this.container;
    const lines = [`Individual ${columns.id.values[row]}`, `fitness ${number_text(columns.fitness.values[row])}`];
    const [name, k] = this.colour.split(' ');
    const field = this.fields().find(({ value }) => value === this.colour);
    if (this.colour !== 'fitness' && field && columns[column_name(name)] && !(name === 'truth' && this.truth_axes.includes(Number(k)))) lines.push(`${field.text} ${number_text(this.values_of_row(row))}`);
    const truth = columns.ground_truth;
    if (truth)
      for (const axis of this.truth_axes) {
        const { name: axis_name, unit } = this.truth_axis(axis);
        lines.push(`${axis_name} ${number_text(truth.values[row * truth.components + axis])}${unit ? ` ${unit}` : ''}`);
      }
    return lines;
  }

  values_of_row(row) {
    const [name, k] = this.colour.split(' ');
    const column = this.container.columns[column_name(name)];
    return column.values[row * column.components + (k === undefined ? 0 : Number(k))];
  }

  hover(row, from) {
    this.views.forEach((view) => view.set_hovered(row));
    const view = from ? this[from] : null;
    if (view && view.cursor && row >= 0) announce(this.describe(row).join(', '));
  }

  select_id(id) {
    const row = this.row_of(id);
    if (row >= 0) this.select_row(row, '');
    else announce(`Individual ${id} is not in this container`);
  }

  select_row(row, note) {
    this.selected = this.container.columns.id.values[row];
    show_if(by_id('about'), false);
    this.mark_selected(row, note);
    const peek = by_id('peek');  // where the panel is further down the page
    peek.textContent = `Individual ${this.selected} ↓`;
    show_if(peek, true);
    this.write_place();
  }

  mark_selected(row, note) {
    const ids = this.container.columns.id.values;
    const near = this.nearest_rows(row);
    const neighbours = near.map((other) => ({ id: ids[other], distance: this.distance(row, other) }));
    const one = {
      id: ids[row], rank: this.rank_of(row), count: this.container.count,
      numbers: this.numbers_of(row, neighbours), neighbours, file: this.file_of(row),
    };
    this.detail.show(this.info, one, this.asked_at(), `${this.info.id} ${this.at}`, note);
    this.views.forEach((view) => view.set_selected(row, near));
  }

  /** What is written of an individual, but for its genes. */
  file_of(row) {
    const { id, fitness, ground_truth: truth, descriptor } = this.container.columns;
    const part = (column) => (column ? Array.from(column.values.subarray(row * column.components, (row + 1) * column.components)) : []);
    return {
      task: this.info.task.name, id: id.values[row], fitness: fitness.values[row],
      truth: part(truth).map((value, k) => [this.truth_axis(k).name, value]), descriptor: part(descriptor),
    };
  }

  /** Which container pictures are asked of: of a run that goes on, the one that is on the screen. */
  asked_at() {
    const running = (this.entry() || {}).state === 'running';
    return this.at === null && running ? this.container.iteration : this.at;
  }

  distance(a, b) {
    const { values, components } = this.container.columns.descriptor;
    let sum = 0;
    for (let k = 0; k < components; ++k) sum += (values[a * components + k] - values[b * components + k]) ** 2;
    return Math.sqrt(sum);
  }

  /** The 15 nearest in the descriptor space. */
  nearest_rows(row, most = 15) {
    if (!this.container.columns.descriptor) return [];
    const { values, components } = this.container.columns.descriptor;
    const best = [];
    for (let i = 0; i < this.container.count; ++i) {
      if (i === row) continue;
      let sum = 0;
      for (let k = 0; k < components; ++k) sum += (values[i * components + k] - values[row * components + k]) ** 2;
      if (best.length === most && !(sum < best[most - 1][0])) continue;
      let at = best.length;
      while (at > 0 && best[at - 1][0] > sum) --at;
      best.splice(at, 0, [sum, i]);
      if (best.length > most) best.pop();
    }
    return best.map(([, i]) => i);
  }

  deselect() {
    this.selected = null;
    this.detail.close();
    show_if(by_id('peek'), false);
    show_if(by_id('about'), true);
    this.views.forEach((view) => view.set_selected(-1));
    this.write_place();
  }

  clear_selection() {
    this.deselect();
    this.lassoed = null;
    show_if(by_id('lassoed'), false);
    this.morph.close();
    this.views.forEach((view) => {
      view.set_lit(null);
      view.set_hovered(-1);
    });
  }

  step_order(by) {
    if (!this.container || this.container.count === 0) return;
    const row = this.selected === null ? -1 : this.row_of(this.selected);
    const rank = row < 0 ? 0 : this.rank_of(row) - 1 + by;
    const list = this.lassoed && this.lassoed.length ? this.order.filter((one) => this.lit_rows.has(one)) : this.order;
    if (list === this.order) {
      this.select_row(this.order[Math.max(0, Math.min(this.order.length - 1, rank))], '');
    } else {
      const at = list.indexOf(row);
      this.select_row(list[Math.max(0, Math.min(list.length - 1, at < 0 ? 0 : at + by))], '');
    }
  }

  step_run(by) {
    const at = this.runs.findIndex((run) => run.id === this.run_id);
    const next = this.runs[(at + by + this.runs.length) % this.runs.length];
    if (next && next.id !== this.run_id) this.open_run(next.id);
  }

  set_lassoed(rows) {
    this.lassoed = rows && rows.length ? rows : null;
    this.lit_rows = this.lassoed ? new Set(this.lassoed) : null;
    this.views.forEach((view) => view.set_lit(this.lassoed));
    const box = by_id('lassoed');
    show_if(box, Boolean(rows));
    if (!rows) return;
    const values = this.container.columns.fitness.values;
    const [low, middle, high] = quantiles(Array.from(rows, (row) => values[row]), [0, 0.5, 1]);
    const best = Array.from(this.order.filter((row) => this.lit_rows && this.lit_rows.has(row)).slice(0, 12));
    announce(`${rows.length} individuals lassoed`);
    box.replaceChildren(
      make('div', { class: 'block-head' }, make('h2', { text: `${number_text(rows.length)} lassoed` }),
        make('button', { type: 'button', class: 'round', text: '✕', title: 'Clear (Esc)', 'aria-label': 'Clear the lasso', onclick: () => this.set_lassoed(null) })),
      rows.length
        ? make('p', { class: 'quiet', text: `${number_text((100 * rows.length) / this.container.count, 3)} % of the container. Fitness ${number_text(low)} to ${number_text(high)}, median ${number_text(middle)}. The best:` })
        : make('p', { class: 'quiet', text: 'Nobody is inside this lasso.' }),
      make('div', { class: 'chips' }, ...best.map((row) => {
        const id = this.container.columns.id.values[row];
        return make('button', { type: 'button', class: 'chip', text: String(id), title: `fitness ${number_text(values[row])}`, onclick: () => this.select_id(id) });
      })));
  }

  show_line(view, segment) {
    const { id, fitness } = this.container.columns;
    const accept = this.api.live ? null : (row) => this.api.has_media(this.info.id, id.values[row]);
    const rows = view.along(...segment, this.morph.stops, accept);
    for (const other of this.views) if (other !== view) other.clear_line();
    this.views.forEach((one) => one.set_stops(rows));
    this.morph.show(this.info, rows.map((row) => ({ id: id.values[row], fitness: fitness.values[row] })), this.asked_at());
  }
}

/** The column of the container that a field is in. */
function column_name(field) {
  return field === 'truth' ? 'ground_truth' : field;
}

/** Where the individuals are, if they are far from filling the bounds. */
function closer(bounds, xs, ys) {
  const ranges = [robust_range(xs, 0, 0.08), robust_range(ys, 0, 0.08)];
  const small = ranges.every(([low, high], i) => high - low < 0.5 * (bounds[2 * i + 1] - bounds[2 * i]));
  return small ? ranges.flat() : bounds;
}

/** Bounds with a little air around them. */
function padded([left, right, bottom, top]) {
  const x = (right - left) * 0.015;
  const y = (top - bottom) * 0.015;
  return [left - x, right + x, bottom - y, top + y];
}

const page = new Page();
window.aurora_page = page;  // for tests and the curious
page.start();
