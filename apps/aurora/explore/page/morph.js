// A line through a space, and the behaviours along it as a strip of pictures.
import { Slot } from './detail.js';
import { announce, make } from './dom.js';
import { number_text } from './maths.js';

const kStops = 9;

export class Morph {
  /** `events`: choose(id), hover(id or null), closed(). */
  constructor(element, api, events) {
    this.element = element;
    this.api = api;
    this.events = events;
    this.slots = [];
    this.strip = make('ol', { class: 'strip' });
    this.words = make('p', { class: 'quiet' });
    element.append(
      make('div', { class: 'block-head' }, make('h3', { text: 'Along the line' }), this.words,
        make('button', { type: 'button', class: 'round', text: '✕', title: 'Close (Esc)', 'aria-label': 'Close the strip', onclick: () => this.close() })),
      this.strip);
  }

  get stops() {
    return kStops;
  }

  /** `members`: [{id, fitness}] in the order of the line. */
  async show(run, members, at) {
    this.clear();
    this.element.hidden = false;
    this.ids = members.map(({ id }) => id);
    this.words.textContent = `${members.length} individuals, each the nearest to its place on the line`;
    announce(`${members.length} individuals along the line: ${this.ids.join(', ')}`);
    const serial = Symbol('strip');
    this.serial = serial;
    this.slots = members.map(({ id, fitness }, i) => {
      const slot = new Slot(this.api, `Behaviour of individual ${id}`, 'square');
      const button = make('button', {
        type: 'button', class: 'strip-item', 'aria-label': `${i + 1}: individual ${id}, fitness ${number_text(fitness)}`,
        onclick: () => this.events.choose(id),
        onpointerenter: () => this.events.hover(id), onpointerleave: () => this.events.hover(null),
        onfocus: () => this.events.hover(id), onblur: () => this.events.hover(null),
      }, slot.element, make('span', { class: 'strip-number', text: String(i + 1) }), make('span', { class: 'quiet', text: String(id) }));
      this.strip.append(make('li', {}, button));
      return slot;
    });
    let next = 0;
    const worker = async () => {
      while (next < members.length && this.serial === serial) {
        const i = next++;
        if (run.cannot_draw) this.slots[i].settle('no picture');
        else await this.slots[i].load(run.id, 'picture', members[i].id, at);
      }
    };
    await Promise.all([worker(), worker()]);  // no more replays than the server takes at a time
  }

  clear() {
    this.serial = null;
    for (const slot of this.slots) slot.clear();
    this.slots = [];
    this.ids = [];
    this.strip.replaceChildren();
  }

  close() {
    if (this.element.hidden) return;
    this.clear();
    this.element.hidden = true;
    this.events.closed();
  }
}
