// The panel of one individual: what it does, what it sensed, its numbers, its neighbours.
import { number_text, ordinal } from './maths.js';
import { announce, fitted_context, make, style_colour } from './dom.js';
import { json_file, npz_file } from './files.js';

/** A picture that comes later, with words while it does not. */
export class Slot {
  constructor(api, alt, shape) {
    this.api = api;
    this.image = make('img', { alt, hidden: true });
    this.words = make('p', { class: 'slot-words' });
    this.element = make('div', { class: `slot ${shape}` }, this.image, this.words);
    this.held = null;
    this.stopper = null;
    this.image.addEventListener('load', () => {
      this.settle('');
      this.element.style.aspectRatio = `${this.image.naturalWidth} / ${this.image.naturalHeight}`;
    });
    this.image.addEventListener('error', () => this.settle('This picture cannot be shown.'));
  }

  settle(words) {
    this.element.classList.toggle('bare', words !== '');
    if (words) this.element.style.aspectRatio = '';
    this.image.hidden = words !== '';
    this.words.textContent = words;
    this.element.classList.remove('waiting');
  }

  async load(run, what, id, at) {
    this.clear();
    const stopper = new AbortController();
    this.stopper = stopper;
    this.element.classList.add('waiting');
    if (what === 'film') this.words.textContent = 'evaluated again …';
    try {
      const held = await this.api.media(run, what, id, at, stopper.signal);
      if (stopper.signal.aborted) {
        if (held) held.release();
        return;
      }
      if (!held) {
        this.settle(what === 'sensory' ? 'There is no picture of this.' : 'This task does not draw itself.');
        return;
      }
      this.held = held;
      this.image.dataset.kind = what;
      this.image.src = held.url;
    } catch (problem) {
      if (problem.name !== 'AbortError' && this.stopper === stopper) this.settle(problem.message);
    }
  }

  clear() {
    if (this.stopper) this.stopper.abort();
    this.stopper = null;
    this.image.hidden = true;
    this.image.removeAttribute('src');
    delete this.image.dataset.kind;
    this.element.classList.remove('bare');
    this.words.textContent = '';
    this.element.classList.remove('waiting');
    if (this.held) this.held.release();
    this.held = null;
  }
}

export class Detail {
  /** `events`: choose(id), step(by), close(), individual(answer). */
  constructor(element, api, events) {
    this.element = element;
    this.api = api;
    this.events = events;
    this.id = null;
    this.at = null;
    this.links = [];  // addresses of files that were made here
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.kind = still ? 'picture' : 'film';
    this.media = new Slot(api, 'The behaviour', 'square');
    this.sensed = new Slot(api, 'What it sensed beside its reconstruction', 'wide');
    this.build();
  }

  build() {
    this.title = make('h2', { id: 'detail-title', tabindex: '-1' });
    this.rank = make('p', { class: 'quiet' });
    this.note = make('p', { class: 'note', hidden: true });
    this.kinds = ['film', 'picture'].map((kind) =>
      make('button', { type: 'button', text: kind === 'film' ? 'Film' : 'Picture', onclick: () => this.set_kind(kind) }));
    this.numbers = make('dl', { class: 'numbers' });
    this.genes = make('canvas', { class: 'genes-canvas', role: 'img' });
    this.genes_text = make('p', { class: 'genes-text' });
    this.genes_title = make('summary');
    this.genes_box = make('details', { class: 'genes' }, this.genes_title, this.genes_text);
    this.neighbours = make('div', { class: 'chips' });
    this.neighbours_box = make('section', {}, make('h3', { text: 'Neighbours in latent space' }), this.neighbours);
    this.genes_section = make('section', {}, make('h3', { text: 'Genes' }), this.genes, this.genes_box);
    this.command = make('code', { class: 'command', tabindex: '0', 'aria-label': 'Command' });
    this.copy = make('button', { type: 'button', class: 'small', text: 'Copy', 'aria-label': 'Copy the command', onclick: () => this.copy_command() });
    this.command_box = make('section', {}, make('h3', { text: 'The same in a terminal' }), make('div', { class: 'command-line' }, this.command, this.copy));
    this.downloads = make('div', { class: 'downloads' });
    this.content = make('div', { class: 'detail-content', hidden: true },
      make('div', { class: 'detail-head' },
        make('div', {}, this.title, this.rank),
        make('div', { class: 'detail-steps' },
          make('button', { type: 'button', class: 'round', text: '‹', title: 'Fitter ([)', 'aria-label': 'The next fitter', onclick: () => this.events.step(-1) }),
          make('button', { type: 'button', class: 'round', text: '›', title: 'Less fit (])', 'aria-label': 'The next less fit', onclick: () => this.events.step(1) }),
          make('button', { type: 'button', class: 'round', text: '✕', title: 'Close (Esc)', 'aria-label': 'Close', onclick: () => this.events.close() }))),
      this.note, this.media.element,
      make('div', { class: 'segmented slim', role: 'group', 'aria-label': 'Film or picture' }, ...this.kinds),
      make('h3', { text: 'Sensed, and what the encoder makes of it' }), this.sensed.element,
      this.numbers, this.genes_section, this.neighbours_box, this.command_box, this.downloads);
    this.element.append(this.content);
    this.paint_kinds();
  }

  paint_kinds() {
    ['film', 'picture'].forEach((kind, i) => this.kinds[i].setAttribute('aria-pressed', String(kind === this.kind)));
  }

  set_kind(kind) {
    if (kind === this.kind) return;
    this.kind = kind;
    this.paint_kinds();
    if (this.id !== null) this.load_media();
  }

  /**
   * `one`: {id, rank, count, numbers: [[name, text]], neighbours, file: what is written of it, but for
   * the genes}; `at`: the iteration that is asked for, or null; `key`: the same as long as nothing has to be asked again; `note`: a sentence, or ''.
   */
  show(run, one, at, key, note) {
    const same = this.id === one.id && this.key === key;
    if (!same) this.at = at;
    this.run = run;
    this.id = one.id;
    this.key = key;
    this.content.hidden = false;
    this.title.textContent = `Individual ${one.id}`;
    this.rank.textContent = one.rank ? `${ordinal(one.rank)} of ${number_text(one.count)} by fitness` : '';
    this.note.textContent = note;
    this.note.hidden = !note;
    this.numbers.replaceChildren(...one.numbers.flatMap(([name, text]) => [make('dt', { text: name }), make('dd', { text })]));
    if (same) return;
    announce(`Individual ${one.id}, ${this.rank.textContent}`);
    this.genes_section.hidden = true;
    this.show_neighbours(one.neighbours);
    this.command_box.hidden = true;
    this.show_downloads(null);
    this.load(one.file);
  }

  async load(file) {
    const { run, id, at, key } = this;
    this.load_media();
    if (run.cannot_draw) this.sensed.settle('Not without the task.');
    else this.sensed.load(run.id, 'sensory', id, at);
    let answer = null;
    try {
      answer = await this.api.individual(run.id, id, at);
    } catch (problem) {
      if (this.id === id) this.show_note(problem.message);
    }
    if (!answer || this.id !== id || this.key !== key) return;
    this.answer = answer;
    if (answer.difference) this.show_note(`Evaluated again, it differs: ${answer.difference}`);
    this.show_genes(answer.genes || []);
    if (answer.genes && answer.genes.length) this.show_downloads({ ...file, genes: answer.genes });
    this.command.textContent = answer.command || '';
    this.command_box.hidden = !answer.command;
  }

  load_media() {
    if (this.run.cannot_draw) this.media.settle(this.run.cannot_draw);
    else this.media.load(this.run.id, this.kind, this.id, this.at);
  }

  show_note(text) {
    this.note.textContent = text;
    this.note.hidden = false;
  }

  show_neighbours(neighbours) {
    this.neighbours_box.hidden = neighbours.length === 0;
    this.neighbours.replaceChildren(...neighbours.map(({ id, distance }) =>
      make('button', { type: 'button', class: 'chip', text: String(id), title: `distance ${number_text(distance)}`, onclick: () => this.events.choose(id) })));
  }

  show_genes(genes) {
    this.genes_section.hidden = genes.length === 0;
    this.gene_values = genes;
    this.genes_title.textContent = `${number_text(genes.length)} numbers between 0 and 1`;
    this.genes_text.textContent = genes.map((gene) => String(Number(gene.toPrecision(6)))).join(', ');
    this.genes.setAttribute('aria-label', `${genes.length} genes as bars`);
    this.draw_genes();
  }

  draw_genes() {
    const genes = this.gene_values;
    const width = this.genes.clientWidth;
    const height = this.genes.clientHeight;
    if (!genes || genes.length === 0 || width === 0) return;
    const context = fitted_context(this.genes, width, height);
    const step = width / genes.length;
    context.fillStyle = style_colour('--wash');
    context.fillRect(0, 0, width, height);
    context.fillStyle = style_colour('--accent');
    genes.forEach((gene, i) => {
      const tall = Math.max(1, Math.max(0, Math.min(1, gene)) * height);
      context.fillRect(i * step + Math.min(1, step * 0.15), height - tall, Math.max(step * 0.7, 0.7), tall);
    });
  }

  /** `file`: the individual with its genes, or null as long as nobody knows them. */
  show_downloads(file) {
    this.links.forEach((link) => URL.revokeObjectURL(link));
    this.links = file ? [json_file(file), npz_file(file)].map((blob) => URL.createObjectURL(blob)) : [];
    const film = this.run.cannot_draw ? null : this.api.gif(this.run.id, this.id, this.at);
    const links = [['json', this.links[0]], ['npz', this.links[1]], ['gif', film]]
      .filter(([, address]) => address)
      .map(([kind, address]) => make('a', { href: address, download: `individual-${this.id}.${kind}`, text: kind.toUpperCase(), 'aria-label': `Download as ${kind.toUpperCase()}` }));
    this.downloads.replaceChildren(...(links.length ? [make('span', { class: 'quiet', text: 'Download' }), ...links] : []));
  }

  async copy_command() {
    const text = this.command.textContent;
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(this.command);
      copied = document.execCommand('copy');
    }
    this.copy.textContent = copied ? 'Copied' : 'Selected';
    announce(copied ? 'The command is copied' : 'The command is selected');
    setTimeout(() => (this.copy.textContent = 'Copy'), 1500);
  }

  close() {
    this.id = null;
    this.key = null;
    if (this.links.length) this.show_downloads(null);
    this.answer = null;
    this.media.clear();
    this.sensed.clear();
    this.content.hidden = true;
  }
}
