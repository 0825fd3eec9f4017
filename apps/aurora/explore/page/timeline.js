// The container over time: a slider over the snapshots, and "play".
import { number_text } from './maths.js';
import { make } from './dom.js';

export class Timeline {
  /** `show(iteration or null)` returns a promise; null is the newest. */
  constructor(element, show) {
    this.show = show;
    this.stops = [];  // [{at: iteration or null, iteration, size}]
    this.playing = false;
    this.button = make('button', { class: 'round', type: 'button', 'aria-label': 'Play the snapshots', onclick: () => this.toggle() });
    this.slider = make('input', { type: 'range', min: '0', max: '0', step: '1', value: '0', 'aria-label': 'Snapshot' });
    this.label = make('output', { class: 'timeline-label' });
    this.ticks = make('div', { class: 'timeline-ticks', 'aria-hidden': 'true' });
    this.slider.addEventListener('input', () => {
      this.stop();
      this.go(Number(this.slider.value));
    });
    element.replaceChildren(this.button, make('div', { class: 'timeline-track' }, this.ticks, this.slider), this.label);
    this.element = element;
    this.paint();
  }

  /** `snapshots`: [{iteration, size}], oldest first; `newest`: {iteration, size}. */
  set(snapshots, newest) {
    const at_end = this.position() === this.stops.length - 1 || this.stops.length === 0;
    const was = this.stops[this.position()];
    this.stops = snapshots
      .filter(({ iteration }) => iteration < newest.iteration)
      .map((snapshot) => ({ at: snapshot.iteration, ...snapshot }));
    this.stops.push({ at: null, ...newest });
    this.slider.max = String(this.stops.length - 1);
    const kept = was ? this.stops.findIndex((stop) => stop.at === was.at) : -1;
    this.slider.value = String(at_end || kept < 0 ? this.stops.length - 1 : kept);
    const span = this.stops.length - 1;
    this.ticks.replaceChildren(...(span > 0 && span <= 60 ? this.stops : []).map((_, i) => {
      const tick = make('i');
      tick.style.left = `${(100 * i) / span}%`;
      return tick;
    }));
    this.element.classList.toggle('alone', this.stops.length < 2);
    this.paint();
  }

  position() {
    return Number(this.slider.value);
  }

  paint() {
    const stop = this.stops[this.position()];
    this.button.textContent = this.playing ? '❚❚' : '▶';
    this.button.setAttribute('aria-label', this.playing ? 'Pause' : 'Play the snapshots');
    this.button.disabled = this.stops.length < 2;
    if (!stop) {
      this.label.textContent = '';
      return;
    }
    const when = `iteration ${number_text(stop.iteration)}`;
    const size = stop.size === undefined ? '' : ` · ${number_text(stop.size)} individuals`;
    const note = stop.at === null ? (this.stops.length < 2 ? ' · no snapshots' : ' · newest') : '';
    this.label.textContent = when + size + note;
    this.slider.setAttribute('aria-valuetext', this.label.textContent);
  }

  async go(position) {
    const wanted = Math.max(0, Math.min(this.stops.length - 1, position));
    if (!this.stops[wanted]) return;
    this.slider.value = String(wanted);
    this.paint();
    await this.show(this.stops[wanted].at);
  }

  step(by) {
    this.stop();
    return this.go(this.position() + by);
  }

  toggle() {
    if (this.playing) this.stop();
    else this.play();
  }

  stop() {
    this.playing = false;
    this.paint();
  }

  async play() {
    if (this.stops.length < 2) return;
    this.playing = true;
    let next = this.position() === this.stops.length - 1 ? 0 : this.position() + 1;
    while (this.playing && next < this.stops.length) {
      const begun = performance.now();
      await this.go(next);
      const pause = Math.max(80, 700 - (performance.now() - begun));
      await new Promise((resolve) => setTimeout(resolve, pause));
      next = this.position() + 1;
    }
    this.stop();
  }
}
