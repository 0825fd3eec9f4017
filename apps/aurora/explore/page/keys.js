// Every key of the page, in one list: the handler and the help read the same.
import { by_id, make } from './dom.js';

const kPlotKeys = [
  ['Arrows', 'move the cross-hair (Alt: one pixel)'],
  ['Enter', 'take the individual at the cross-hair, or the nearest to it'],
  ['+  −', 'zoom in, out'],
  ['Shift + arrows', 'move the view'],
  ['0  9', 'the whole space; every outlier as well'],
  ['Space', 'lasso: set a corner (Enter closes it); line: set an end'],
  ['Shift + drag', 'lasso in any mode'],
  ['Alt + drag', 'line in any mode'],
];

/** `actions`: [{key, text, run}] where `key` is what event.key says, or several. */
export class Keys {
  constructor(actions) {
    this.actions = actions;
    this.dialog = by_id('keys');
    const close = make('button', { type: 'button', class: 'round', text: '✕', 'aria-label': 'Close', onclick: () => this.dialog.close() });
    const rows = (list) => list.map(([key, text]) => make('tr', {}, make('th', { scope: 'row' }, ...key.split('  ').map((part) => make('kbd', { text: part }))), make('td', { text })));
    this.dialog.replaceChildren(
      make('div', { class: 'block-head' }, make('h2', { id: 'keys-title', text: 'Keys' }), close),
      make('div', { class: 'keys-columns' },
        make('div', {}, make('h3', { text: 'Everywhere' }), make('table', {}, make('tbody', {}, ...rows(actions.map(({ keys, text }) => [keys.map(key_name).join('  '), text]))))),
        make('div', {}, make('h3', { text: 'In a view' }), make('table', {}, make('tbody', {}, ...rows(kPlotKeys))))));
    this.dialog.addEventListener('click', (event) => {
      if (event.target === this.dialog) this.dialog.close();
    });
    document.addEventListener('keydown', (event) => this.key(event));
  }

  open() {
    if (!this.dialog.open) this.dialog.showModal();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || this.dialog.open) return;
    const typed = event.target.closest('input:not([type=range]):not([type=checkbox]), select, textarea');
    if (typed && event.key !== 'Escape') return;
    const action = this.actions.find(({ keys }) => keys.includes(event.key));
    if (!action) return;
    event.preventDefault();
    action.run(event.key);
  }
}

function key_name(key) {
  return key === 'Escape' ? 'Esc' : key;
}
