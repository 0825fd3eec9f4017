// Making elements. Texts are only ever set as text, so a run cannot name itself into markup.

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') element.className = value;
    else if (key === 'text') element.textContent = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function by_id(id) {
  return document.getElementById(id);
}

export function show_if(element, shown) {
  element.hidden = !shown;
}

/** Fills a <select>; entries are {value, text, group?}. Keeps the value if it is still there. */
export function fill_select(select, entries, wanted) {
  const signature = JSON.stringify(entries);
  if (select.dataset.signature !== signature) {
    select.dataset.signature = signature;
    select.replaceChildren();
    const groups = new Map();
    for (const { value, text, group } of entries) {
      let parent = select;
      if (group) {
        if (!groups.has(group)) {
          groups.set(group, make('optgroup', { label: group }));
          select.append(groups.get(group));
        }
        parent = groups.get(group);
      }
      parent.append(make('option', { value, text }));
    }
  }
  if (entries.some((entry) => String(entry.value) === String(wanted))) select.value = String(wanted);
}

/** A colour of the style sheet, by the name of its variable. */
export function style_colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function is_dark() {
  const said = document.documentElement.dataset.theme;
  return said ? said === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
}

/** A canvas as large as its box, in the pixels of the screen; returns its 2d context, scaled. */
export function fitted_context(canvas, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const w = Math.max(1, Math.round(width * ratio));
  const h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Tells those who listen to the page, and nobody else. */
export function announce(text) {
  const region = by_id('announce');
  if (region) region.textContent = text;
}

export function debounced(action, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}
