// One cloud of points, drawn by WebGL2 where there is a graphics card and by raster.js until it is
// known, or where there is none; above it a plain canvas for axes, rings, lasso and line. Draws only
// when something changed. The keyboard moves a cross-hair that does what the mouse does.
import { GridIndex, inside_polygon, number_text, robust_range, ticks } from './maths.js';
import { fitted_context, is_dark, make, style_colour } from './dom.js';
import { Raster } from './raster.js';

const kVertexShader = `#version 300 es
in vec2 place;
in vec4 colour;
uniform vec4 view;  // scale x, y, then shift x, y
uniform float size;
uniform float strength;
out vec4 shade;
void main() {
  gl_Position = vec4(place * view.xy + view.zw, 0.0, 1.0);
  gl_PointSize = size;
  shade = vec4(colour.rgb, strength);
}`;

const kFragmentShader = `#version 300 es
precision highp float;
in vec4 shade;
uniform float size;
out vec4 result;
void main() {
  float r = length(gl_PointCoord - 0.5) * size;
  float cover = clamp(size * 0.5 - r + 0.5, 0.0, 1.0) * shade.a;
  if (cover <= 0.0) discard;
  result = vec4(shade.rgb * cover, cover);
}`;

const kMargin = { left: 62, right: 12, top: 10, bottom: 40 };
const kReach = 18;  // pixels within which a point is meant

export class Scatter {
  /** `events`: hover(row), pick(row), empty(row, x, y), lasso(rows), line(rows of points), describe(row). */
  constructor(element, label, events) {
    this.element = element;
    this.events = events;
    this.xs = new Float32Array(0);
    this.ys = new Float32Array(0);
    this.index = null;
    this.axes = [{ name: '', unit: '' }, { name: '', unit: '' }];
    this.home = [0, 1, 0, 1];
    this.moved = false;
    this.colours = new Uint8Array(0);
    this.lit = null;
    this.hovered = -1;
    this.selected = -1;
    this.marks = [];
    this.polygon = null;
    this.segment = null;
    this.stops = [];
    this.rings = [];
    this.mode = 'move';
    this.point_scale = 1;
    this.cursor = null;
    this.backdrop = null;
    this.frames = 0;
    this.wanted = { points: true, overlay: true };
    this.scheduled = false;
    this.pixels = { width: 0, height: 0 };

    element.setAttribute('role', 'application');
    element.setAttribute('aria-roledescription', 'scatter plot');
    element.setAttribute('aria-label', label);
    element.tabIndex = 0;
    this.picture = make('canvas', { class: 'layer', 'aria-hidden': 'true' });
    this.points = make('canvas', { class: 'layer', 'aria-hidden': 'true' });
    this.overlay = make('canvas', { class: 'layer', 'aria-hidden': 'true' });
    this.tip = make('div', { class: 'tip', role: 'presentation', hidden: true });
    this.corner = make('div', { class: 'outside' });
    element.replaceChildren(this.picture, this.points, this.overlay, this.corner, this.tip);

    this.gl = null;
    this.raster = new Raster();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(element);
    this.resize();
  }

  // ---- what is shown

  /** `home`: [left, right, bottom, top] in data; an axis is {name, unit, downwards}. */
  set_data(xs, ys, axes, home, options = {}) {
    const same_axes = this.axes[0].name === axes[0].name && this.axes[1].name === axes[1].name;
    this.xs = xs;
    this.ys = ys;
    this.axes = axes;
    this.equal = Boolean(options.equal);
    this.backdrop = options.backdrop || null;
    this.index = new GridIndex(xs, ys);
    this.home = home;
    this.anchor = [(home[0] + home[1]) / 2, (home[2] + home[3]) / 2, home[1] - home[0] || 1, home[3] - home[2] || 1];
    if (!this.moved || !same_axes) this.go_home();
    this.upload_places();
    this.lit = null;
    this.hovered = -1;
    this.selected = -1;
    this.marks = [];
    this.rings = [];
    this.stops = [];
    this.segment = null;
    this.tip.hidden = true;
    this.count_outside();
    this.redraw();
  }

  set_colours(colours) {
    this.colours = colours;
    this.upload_colours();
    this.redraw();
  }

  /** Rows that stay bright while the others fade; null for all. */
  set_lit(rows) {
    this.lit = rows;
    this.upload_lit();
    this.redraw();
  }

  set_hovered(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    if (row < 0) this.tip.hidden = true;
    this.redraw_overlay();
  }

  set_selected(row, marks = []) {
    this.selected = row;
    this.marks = marks;
    this.redraw_overlay();
  }

  /** Rows that are always ringed. */
  set_rings(rows) {
    this.rings = rows;
    this.redraw_overlay();
  }

  /** The rows along a line, to number them. */
  set_stops(rows) {
    this.stops = rows;
    this.redraw_overlay();
  }

  clear_line() {
    this.segment = null;
    this.set_stops([]);
  }

  set_mode(mode) {
    this.mode = mode;
    this.polygon = null;
    this.line_start = null;
    this.element.dataset.mode = mode;
  }

  set_point_scale(scale) {
    this.point_scale = scale;
    this.redraw();
  }

  // ---- the view: data -> pixels of the inner rectangle

  go_home() {
    this.moved = false;
    let [left, right, bottom, top] = this.home;
    if (this.equal && this.pixels.width > 0 && this.pixels.height > 0) {
      const per_x = (right - left) / this.pixels.width;
      const per_y = (top - bottom) / this.pixels.height;
      const per = Math.max(per_x, per_y);
      const half_x = (per * this.pixels.width) / 2;
      const half_y = (per * this.pixels.height) / 2;
      [left, right] = [(left + right) / 2 - half_x, (left + right) / 2 + half_x];
      [bottom, top] = [(bottom + top) / 2 - half_y, (bottom + top) / 2 + half_y];
    }
    this.view = { left, right, bottom, top };
    this.count_outside();
    this.redraw();
  }

  /** Everything, outliers as well. */
  go_wide() {
    const range = (values) => robust_range(values, 0, 0.04);
    const [left, right] = range(this.xs);
    const [bottom, top] = range(this.ys);
    this.view = { left, right, bottom, top };
    this.moved = true;
    this.count_outside();
    this.redraw();
  }

  scale_x() {
    return this.pixels.width / (this.view.right - this.view.left);
  }

  scale_y() {
    return this.pixels.height / (this.view.top - this.view.bottom);
  }

  to_pixel(x, y) {
    const up = (y - this.view.bottom) * this.scale_y();
    return [(x - this.view.left) * this.scale_x(), this.axes[1].downwards ? up : this.pixels.height - up];
  }

  to_data(px, py) {
    const up = this.axes[1].downwards ? py : this.pixels.height - py;
    return [this.view.left + px / this.scale_x(), this.view.bottom + up / this.scale_y()];
  }

  zoom_at(px, py, factor) {
    const [x, y] = this.to_data(px, py);
    const view = this.view;
    const limit = (this.view.right - this.view.left) * factor;
    if (limit > 50 * this.anchor[2] || limit < 1e-6 * this.anchor[2]) return;
    this.view = {
      left: x + (view.left - x) * factor,
      right: x + (view.right - x) * factor,
      bottom: y + (view.bottom - y) * factor,
      top: y + (view.top - y) * factor,
    };
    this.view_changed();
  }

  pan_by(dx, dy) {
    const x = dx / this.scale_x();
    const y = (this.axes[1].downwards ? -dy : dy) / this.scale_y();
    this.view = {
      left: this.view.left - x,
      right: this.view.right - x,
      bottom: this.view.bottom + y,
      top: this.view.top + y,
    };
    this.view_changed();
  }

  view_changed() {
    this.moved = true;
    this.count_outside();
    this.redraw();
  }

  count_outside() {
    clearTimeout(this.counting);
    this.counting = setTimeout(() => {
      const { left, right, bottom, top } = this.view;
      let outside = 0;
      for (let i = 0; i < this.xs.length; ++i)
        if (!(this.xs[i] >= left && this.xs[i] <= right && this.ys[i] >= bottom && this.ys[i] <= top)) ++outside;
      this.corner.textContent = outside ? `${number_text(outside)} outside the view` : '';
    }, 120);
  }

  /** The point that is meant at these pixels, or -1. */
  pick(px, py, reach = kReach) {
    if (!this.index || this.xs.length === 0) return -1;
    const [x, y] = this.to_data(px, py);
    return this.index.nearest(x, y, this.scale_x(), this.scale_y(), reach);
  }

  /** Rows nearest to `count` places along the segment, each once, in order. */
  along(from, to, count, accept = null) {
    const taken = new Set();
    const rows = [];
    for (let i = 0; i < count; ++i) {
      const t = count === 1 ? 0 : i / (count - 1);
      const x = from[0] + (to[0] - from[0]) * t;
      const y = from[1] + (to[1] - from[1]) * t;
      const row = this.index.nearest(x, y, this.scale_x(), this.scale_y(), Infinity,
        (candidate) => !taken.has(candidate) && (!accept || accept(candidate)));
      if (row < 0) break;
      taken.add(row);
      rows.push(row);
    }
    return rows;
  }

  // ---- drawing

  /** From now on WebGL2 draws; nothing changes if it cannot. */
  use_graphics_card() {
    const canvas = make('canvas', { class: 'layer', 'aria-hidden': 'true' });
    this.gl = canvas.getContext('webgl2', { antialias: false, depth: false, premultipliedAlpha: true });
    if (!this.gl || !this.prepare_gl()) {
      this.gl = null;
      return;
    }
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => {
      this.prepare_gl();
      this.upload_all();
    });
    this.points.replaceWith(canvas);  // one canvas never has two kinds of context
    this.points = canvas;
    this.upload_all();
    this.resize();
  }

  upload_all() {
    this.upload_places();
    this.upload_colours();
    this.upload_lit();
    this.redraw();
  }

  prepare_gl() {
    const gl = this.gl;
    const shader = (type, text) => {
      const made = gl.createShader(type);
      gl.shaderSource(made, text);
      gl.compileShader(made);
      return made;
    };
    const program = gl.createProgram();
    gl.attachShader(program, shader(gl.VERTEX_SHADER, kVertexShader));
    gl.attachShader(program, shader(gl.FRAGMENT_SHADER, kFragmentShader));
    gl.bindAttribLocation(program, 0, 'place');
    gl.bindAttribLocation(program, 1, 'colour');
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return false;
    gl.useProgram(program);
    this.uniforms = Object.fromEntries(['view', 'size', 'strength'].map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = { places: gl.createBuffer(), colours: gl.createBuffer(), lit: gl.createBuffer() };
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.places);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers.colours);
    gl.enableVertexAttribArray(1);
    gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    return true;
  }

  upload_places() {
    if (!this.gl || !this.anchor) return;
    const [cx, cy, sx, sy] = this.anchor;  // near 0, where floats are fine
    const places = new Float32Array(this.xs.length * 2);
    for (let i = 0; i < this.xs.length; ++i) {
      places[2 * i] = (this.xs[i] - cx) / sx;
      places[2 * i + 1] = (this.ys[i] - cy) / sy;
    }
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers.places);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, places, this.gl.STATIC_DRAW);
  }

  upload_colours() {
    if (!this.gl) return;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers.colours);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, this.colours, this.gl.STATIC_DRAW);
  }

  upload_lit() {
    if (!this.gl || !this.lit) return;
    this.gl.bindBuffer(this.gl.ELEMENT_ARRAY_BUFFER, this.buffers.lit);
    this.gl.bufferData(this.gl.ELEMENT_ARRAY_BUFFER, this.lit, this.gl.STATIC_DRAW);
  }

  resize() {
    const box = this.element.getBoundingClientRect();
    const width = Math.max(0, box.width - kMargin.left - kMargin.right);
    const height = Math.max(0, box.height - kMargin.top - kMargin.bottom);
    this.box = { width: box.width, height: box.height };
    this.pixels = { width, height };
    for (const canvas of [this.picture, this.points]) {
      canvas.style.left = `${kMargin.left}px`;
      canvas.style.top = `${kMargin.top}px`;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    this.overlay.style.width = `${box.width}px`;
    this.overlay.style.height = `${box.height}px`;
    if (this.view && !this.moved) this.go_home();
    this.redraw();
  }

  redraw() {
    this.wanted.points = true;
    this.redraw_overlay();
  }

  redraw_overlay() {
    this.wanted.overlay = true;
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      if (!this.view || this.pixels.width === 0) return;
      if (this.wanted.points) {
        this.draw_backdrop();
        this.draw_points();
      }
      this.draw_overlay();
      this.wanted = { points: false, overlay: false };
    });
  }

  point_size() {
    const zoom = Math.max(1, this.anchor[2] / (this.view.right - this.view.left));
    const base = Math.max(2, Math.min(6.5, 62 / Math.cbrt(Math.max(this.xs.length, 1))));
    return Math.min(16, base * zoom ** 0.35 * this.point_scale);
  }

  draw_backdrop() {
    const context = fitted_context(this.picture, this.pixels.width, this.pixels.height);
    if (!this.backdrop) return;
    const { image, bounds } = this.backdrop;
    const first = this.to_pixel(bounds[0], bounds[2]);
    const second = this.to_pixel(bounds[1], bounds[3]);
    const dark = is_dark();
    context.filter = dark ? 'invert(1) hue-rotate(180deg)' : 'none';
    context.globalAlpha = dark ? 0.3 : 0.42;
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, Math.min(first[0], second[0]), Math.min(first[1], second[1]),
      Math.abs(second[0] - first[0]), Math.abs(second[1] - first[1]));
    context.filter = 'none';
    context.globalAlpha = 1;
  }

  draw_points() {
    ++this.frames;
    if (!this.gl) {
      this.draw_points_plainly();
      return;
    }
    const gl = this.gl;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.pixels.width * ratio));
    const height = Math.max(1, Math.round(this.pixels.height * ratio));
    if (this.points.width !== width || this.points.height !== height) {
      this.points.width = width;
      this.points.height = height;
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const count = Math.min(this.xs.length, this.colours.length / 4);
    if (count === 0 || !this.anchor) return;
    const [cx, cy, sx, sy] = this.anchor;
    const { left, right, bottom, top } = this.view;
    const wide = right - left;
    const tall = (top - bottom) * (this.axes[1].downwards ? -1 : 1);
    gl.uniform4f(this.uniforms.view, (2 * sx) / wide, (2 * sy) / tall,
      (2 * cx - left - right) / wide, (2 * cy - bottom - top) / tall);
    const size = this.point_size() * ratio;
    gl.uniform1f(this.uniforms.size, this.lit ? Math.max(1.5, size * 0.8) : size);
    gl.uniform1f(this.uniforms.strength, this.lit ? 0.13 : 0.92);
    gl.drawArrays(gl.POINTS, 0, count);
    if (this.lit && this.lit.length > 0) {
      gl.uniform1f(this.uniforms.size, size * 1.15);
      gl.uniform1f(this.uniforms.strength, 1);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers.lit);
      gl.drawElements(gl.POINTS, this.lit.length, gl.UNSIGNED_INT, 0);
    }
  }

  draw_points_plainly() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.raster.begin(Math.max(1, Math.round(this.pixels.width * ratio)), Math.max(1, Math.round(this.pixels.height * ratio)));
    const [x, y] = this.to_pixel(0, 0);
    const places = [this.scale_x() * ratio, x * ratio, this.scale_y() * ratio * (this.axes[1].downwards ? 1 : -1), y * ratio];
    const size = this.point_size() * ratio;
    const draw = (rows, diameter, strength) => this.raster.discs(this.xs, this.ys, places, this.colours, rows, diameter, strength);
    if (this.anchor) {
      draw(null, this.lit ? Math.max(1.5, size * 0.8) : size, this.lit ? 0.13 : 0.92);
      if (this.lit) draw(this.lit, size * 1.15, 1);
    }
    this.raster.show(this.points);
  }

  draw_overlay() {
    const context = fitted_context(this.overlay, this.box.width, this.box.height);
    const { width, height } = this.pixels;
    const ink = style_colour('--ink');
    const muted = style_colour('--muted');
    const line = style_colour('--line');
    const accent = style_colour('--accent');
    const paper = style_colour('--panel');
    context.font = `11px ${style_colour('--font')}`;

    context.save();
    context.translate(kMargin.left, kMargin.top);
    context.strokeStyle = line;
    context.lineWidth = 1;
    context.strokeRect(-0.5, -0.5, width + 1, height + 1);
    context.fillStyle = muted;
    context.textAlign = 'center';
    context.textBaseline = 'top';
    for (const x of ticks(this.view.left, this.view.right, width / 90)) {
      const [px] = this.to_pixel(x, 0);
      context.strokeRect(px, height, 0, 4);
      context.fillText(number_text(x), Math.max(2, Math.min(width - 4, px)), height + 7);
    }
    context.textAlign = 'right';
    context.textBaseline = 'middle';
    for (const y of ticks(this.view.bottom, this.view.top, height / 70)) {
      const [, py] = this.to_pixel(0, y);
      context.strokeRect(-4, py, 4, 0);
      context.fillText(number_text(y), -7, Math.max(4, Math.min(height - 4, py)));
    }
    context.fillStyle = ink;
    context.font = `12px ${style_colour('--font')}`;
    context.textAlign = 'center';
    context.textBaseline = 'bottom';
    context.fillText(axis_title(this.axes[0]), width / 2, height + kMargin.bottom - 1);
    context.save();
    context.translate(-kMargin.left + 13, height / 2);
    context.rotate(-Math.PI / 2);
    context.textBaseline = 'middle';
    context.fillText(axis_title(this.axes[1]), 0, 0);
    context.restore();

    context.beginPath();
    context.rect(0, 0, width, height);
    context.clip();
    const ring = (row, radius, colour, thickness) => {
      const [x, y] = this.to_pixel(this.xs[row], this.ys[row]);
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.lineWidth = thickness + 2.5;
      context.strokeStyle = paper;
      context.stroke();
      context.lineWidth = thickness;
      context.strokeStyle = colour;
      context.stroke();
    };
    const radius = this.point_size() / 2;
    for (const row of this.rings) ring(row, radius + 1.5, accent, 1);
    for (const row of this.marks) if (row < this.xs.length) ring(row, radius + 2, muted, 1.25);
    if (this.segment) {
      const [a, b] = this.segment.map(([x, y]) => this.to_pixel(x, y));
      for (const [colour, thickness] of [[paper, 4.5], [accent, 2]]) {
        context.strokeStyle = colour;
        context.lineWidth = thickness;
        context.beginPath();
        context.moveTo(...a);
        context.lineTo(...b);
        context.stroke();
      }
    }
    this.stops.forEach((row, i) => {
      const [x, y] = this.to_pixel(this.xs[row], this.ys[row]);
      context.beginPath();
      context.arc(x, y, 8, 0, 2 * Math.PI);
      context.fillStyle = accent;
      context.fill();
      context.fillStyle = paper;
      context.font = `600 10px ${style_colour('--font')}`;
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.fillText(String(i + 1), x, y + 0.5);
    });
    if (this.selected >= 0 && this.selected < this.xs.length) {
      ring(this.selected, radius + 5, accent, 2.5);
      const [x, y] = this.to_pixel(this.xs[this.selected], this.ys[this.selected]);
      context.beginPath();
      context.arc(x, y, Math.max(2.5, radius), 0, 2 * Math.PI);
      context.fillStyle = accent;
      context.fill();
    }
    if (this.hovered >= 0 && this.hovered < this.xs.length) ring(this.hovered, radius + 4, ink, 2);
    if (this.polygon && this.polygon.length > 1) {
      context.beginPath();
      this.polygon.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.globalAlpha = 0.14;
      context.fillStyle = accent;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = accent;
      context.lineWidth = 1.5;
      context.setLineDash([5, 4]);
      context.stroke();
      context.setLineDash([]);
    }
    if (this.cursor) {
      const [x, y] = this.cursor;
      context.strokeStyle = accent;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x - 14, y + 0.5);
      context.lineTo(x + 14, y + 0.5);
      context.moveTo(x + 0.5, y - 14);
      context.lineTo(x + 0.5, y + 14);
      context.stroke();
    }
    context.restore();
    if (this.hovered >= 0 && this.pointed) this.place_tip();
  }

  place_tip() {
    if (this.hovered >= this.xs.length) return;
    const lines = this.events.describe ? this.events.describe(this.hovered) : [];
    if (lines.length === 0) return;
    this.tip.replaceChildren(...lines.map((text, i) => make('div', { class: i ? '' : 'tip-title', text })));
    this.tip.hidden = false;
    const [x, y] = this.to_pixel(this.xs[this.hovered], this.ys[this.hovered]);
    const px = x + kMargin.left;
    const py = y + kMargin.top;
    const wide = this.tip.offsetWidth;
    const tall = this.tip.offsetHeight;
    const left = px + 14 + wide > this.box.width ? px - 14 - wide : px + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(this.box.height - tall, py - tall / 2))}px`;
  }

  // ---- mouse, touch, keyboard

  listen() {
    const at = (event) => {
      const box = this.element.getBoundingClientRect();
      return [event.clientX - box.left - kMargin.left, event.clientY - box.top - kMargin.top];
    };
    const touches = new Map();
    let drag = null;
    this.element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || !this.view) return;
      this.element.setPointerCapture(event.pointerId);
      this.cursor = null;
      const place = at(event);
      touches.set(event.pointerId, place);
      if (touches.size > 1) {
        drag = { kind: 'pinch' };
        this.polygon = null;
        return;
      }
      const kind = event.shiftKey ? 'lasso' : event.altKey ? 'line' : this.mode;
      drag = { kind, from: place, last: place, far: false };
      if (kind === 'lasso') this.polygon = [place];
    });
    this.element.addEventListener('pointermove', (event) => {
      if (!this.view) return;
      const place = at(event);
      if (drag && drag.kind === 'pinch') {
        this.pinch(touches, event.pointerId, place);
        return;
      }
      if (!drag) {
        this.pointed = true;
        this.hover_at(place);
        return;
      }
      if (Math.hypot(place[0] - drag.from[0], place[1] - drag.from[1]) > 4) drag.far = true;
      if (drag.far) this.dragged(drag, place);
      drag.last = place;
      touches.set(event.pointerId, place);
    });
    const finish = (event) => {
      touches.delete(event.pointerId);
      if (!drag) return;
      const done = drag;
      if (touches.size === 0) drag = null;
      if (done.kind === 'pinch') return;
      if (event.type === 'pointercancel') {
        this.polygon = null;
        this.redraw_overlay();
      } else if (!done.far) {
        this.polygon = null;
        this.click_at(done.from);
      } else {
        this.dropped(done);
      }
    };
    this.element.addEventListener('pointerup', finish);
    this.element.addEventListener('pointercancel', finish);
    this.element.addEventListener('pointerleave', () => {
      if (drag) return;
      this.pointed = false;
      this.tip.hidden = true;
      this.events.hover(-1);
    });
    this.element.addEventListener('wheel', (event) => {
      if (!this.view) return;
      event.preventDefault();
      const turn = event.deltaMode === 1 ? event.deltaY * 24 : event.deltaY;
      this.zoom_at(...at(event), Math.exp(Math.max(-120, Math.min(120, turn)) * 0.0022));
    }, { passive: false });
    this.element.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('blur', () => {
      this.cursor = null;
      this.pointed = false;
      this.tip.hidden = true;
      this.redraw_overlay();
    });
  }

  pinch(touches, id, place) {
    const others = [...touches].filter(([other]) => other !== id);
    if (others.length !== 1 || !touches.has(id)) return;
    const fixed = others[0][1];
    const before = touches.get(id);
    const was = Math.hypot(before[0] - fixed[0], before[1] - fixed[1]);
    const now = Math.hypot(place[0] - fixed[0], place[1] - fixed[1]);
    touches.set(id, place);
    if (was > 8 && now > 8) this.zoom_at((place[0] + fixed[0]) / 2, (place[1] + fixed[1]) / 2, was / now);
  }

  hover_at([px, py]) {
    const inside = px >= 0 && py >= 0 && px <= this.pixels.width && py <= this.pixels.height;
    this.events.hover(inside ? this.pick(px, py) : -1);
  }

  click_at([px, py]) {
    const row = this.pick(px, py);
    if (row >= 0) {
      this.events.pick(row);
      return;
    }
    const nearest = this.pick(px, py, Infinity);
    if (nearest >= 0) this.events.empty(nearest, ...this.to_data(px, py));
  }

  dragged(drag, place) {
    if (drag.kind === 'move') {
      this.pan_by(place[0] - drag.last[0], place[1] - drag.last[1]);
    } else if (drag.kind === 'lasso') {
      const last = this.polygon[this.polygon.length - 1];
      if (Math.hypot(place[0] - last[0], place[1] - last[1]) > 3) this.polygon.push(place);
      this.redraw_overlay();
    } else {
      this.stops = [];
      this.segment = [this.to_data(...drag.from), this.to_data(...place)];
      this.redraw_overlay();
    }
  }

  dropped(drag) {
    if (drag.kind === 'lasso') this.close_lasso();
    else if (drag.kind === 'line' && this.segment) this.events.line(this, this.segment);
  }

  close_lasso() {
    const polygon = (this.polygon || []).map(([x, y]) => this.to_data(x, y));
    this.polygon = null;
    this.redraw_overlay();
    if (polygon.length > 2) this.events.lasso(inside_polygon(this.xs, this.ys, polygon));
  }

  key(event) {
    if (!this.view || event.ctrlKey || event.metaKey) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { width, height } = this.pixels;
    if (arrows[event.key]) {
      const [dx, dy] = arrows[event.key];
      if (event.shiftKey) {
        this.pan_by(-dx * 40, -dy * 40);
      } else {
        const step = event.altKey ? 1 : 10;
        const [x, y] = this.cursor || this.begin_cursor();
        this.cursor = [Math.max(0, Math.min(width, x + dx * step)), Math.max(0, Math.min(height, y + dy * step))];
        if (this.polygon) this.polygon[this.polygon.length - 1] = [...this.cursor];
        if (this.mode === 'line' && this.line_start) {
          this.segment = [this.line_start, this.to_data(...this.cursor)];
          this.stops = [];
        }
        this.pointed = true;
        this.hover_at(this.cursor);
      }
      this.redraw_overlay();
    } else if (event.key === '+' || event.key === '=' || event.key === '-') {
      const [x, y] = this.cursor || [width / 2, height / 2];
      this.zoom_at(x, y, event.key === '-' ? 1.25 : 0.8);
    } else if (event.key === '0') {
      this.go_home();
    } else if (event.key === '9') {
      this.go_wide();
    } else if (event.key === ' ') {
      this.set_corner();
    } else if (event.key === 'Enter') {
      if (this.polygon) {
        this.polygon.pop();
        this.close_lasso();
      } else if (this.mode === 'line' && this.line_start) {
        this.set_corner();
      } else {
        this.click_at(this.cursor || this.begin_cursor());
      }
    } else if (event.key === 'Escape' && (this.polygon || this.line_start)) {
      this.polygon = null;
      this.line_start = null;
      this.segment = null;
      this.redraw_overlay();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  begin_cursor() {
    if (this.selected >= 0) {
      const [x, y] = this.to_pixel(this.xs[this.selected], this.ys[this.selected]);
      if (x >= 0 && y >= 0 && x <= this.pixels.width && y <= this.pixels.height) return [x, y];
    }
    return [this.pixels.width / 2, this.pixels.height / 2];
  }

  /** Space: a corner of a lasso, or an end of a line, where the cross-hair is. */
  set_corner() {
    this.cursor = this.cursor || this.begin_cursor();
    if (this.mode === 'lasso') {
      this.polygon = this.polygon || [[...this.cursor]];
      this.polygon.push([...this.cursor]);
    } else if (this.mode === 'line') {
      if (this.line_start) {
        this.segment = [this.line_start, this.to_data(...this.cursor)];
        this.line_start = null;
        this.events.line(this, this.segment);
      } else {
        this.line_start = this.to_data(...this.cursor);
      }
    } else {
      this.click_at(this.cursor);
    }
    this.redraw_overlay();
  }
}

/** Whether WebGL2 is there and is not made by the processor, where raster.js does better. */
export function has_graphics_card() {
  const gl = make('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  const loser = gl.getExtension('WEBGL_lose_context');
  if (loser) loser.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

function axis_title(axis) {
  return axis.unit ? `${axis.name} (${axis.unit})` : axis.name;
}
