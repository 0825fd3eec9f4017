// Numbers: quantiles, ranges, principal components, ticks, and an index that finds the nearest point.

/** The q-quantiles of what is finite in `values`, by linear interpolation. */
export function quantiles(values, shares) {
  const finite = Float64Array.from(values).filter(Number.isFinite).sort();
  if (finite.length === 0) return shares.map(() => NaN);
  return shares.map((share) => {
    const at = share * (finite.length - 1);
    const low = Math.floor(at);
    const high = Math.min(low + 1, finite.length - 1);
    return finite[low] + (finite[high] - finite[low]) * (at - low);
  });
}

/** [lower, upper] that holds nearly all of `values`, never empty: what a view begins with. */
export function robust_range(values, share = 0.005, margin = 0.06) {
  const sample = share > 0 ? thinned(values, 10000) : values;
  let [low, high] = quantiles(sample, [share, 1 - share]);
  if (!Number.isFinite(low)) return [0, 1];
  if (high - low < 1e-12 * Math.max(Math.abs(low), Math.abs(high), 1e-30)) {
    const half = Math.abs(low) * 0.05 || 0.5;
    low -= half;
    high += half;
  }
  const more = (high - low) * margin;
  return [low - more, high + more];
}

/** Every so many-th of the values, so that there are not more than `most`. */
export function thinned(values, most) {
  if (values.length <= most) return values;
  const step = values.length / most;
  const out = new Float64Array(most);
  for (let i = 0; i < most; ++i) out[i] = values[Math.floor(i * step)];
  return out;
}

/** One component of a row-major column, as an array of its own. */
export function component(column, components, k) {
  if (components === 1) return column;
  const count = Math.floor(column.length / components);
  const out = new Float32Array(count);
  for (let i = 0; i < count; ++i) out[i] = column[i * components + k];
  return out;
}

/**
 * Principal components of row-major `rows`: {count, shares: [of the variance], scores(which)}, the
 * largest first. Scores are computed when they are asked for.
 */
export function principal_components(rows, dimension) {
  const count = Math.floor(rows.length / dimension);
  const step = Math.max(1, Math.floor(count / 10000));  // 10,000 rows tell the directions
  const mean = new Float64Array(dimension);
  let used = 0;
  for (let i = 0; i < count; i += step, ++used)
    for (let k = 0; k < dimension; ++k) mean[k] += rows[i * dimension + k];
  for (let k = 0; k < dimension; ++k) mean[k] /= Math.max(used, 1);
  const covariance = Array.from({ length: dimension }, () => new Float64Array(dimension));
  const row = new Float64Array(dimension);
  for (let i = 0; i < count; i += step) {
    for (let k = 0; k < dimension; ++k) row[k] = rows[i * dimension + k] - mean[k];
    for (let k = 0; k < dimension; ++k)
      for (let l = k; l < dimension; ++l) covariance[k][l] += row[k] * row[l];
  }
  for (let k = 0; k < dimension; ++k)
    for (let l = 0; l < k; ++l) covariance[k][l] = covariance[l][k];
  const { values, vectors } = symmetric_eigen(covariance);
  const total = values.reduce((sum, value) => sum + Math.max(value, 0), 0) || 1;
  const order = values.map((_, k) => k).sort((a, b) => values[b] - values[a]);
  const scores = (which) => {
    const axis = Float64Array.from(vectors, (line) => line[order[which]]);
    const largest = axis.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
    const sign = largest < 0 ? -1 : 1;  // else a view could flip between two polls
    const out = new Float32Array(count);
    for (let i = 0, at = 0; i < count; ++i) {
      let sum = 0;
      for (let k = 0; k < dimension; ++k, ++at) sum += (rows[at] - mean[k]) * axis[k];
      out[i] = sign * sum;
    }
    return out;
  };
  return { count: dimension, shares: order.map((which) => Math.max(values[which], 0) / total), scores };
}

/** Jacobi's rotations; `matrix` is small and symmetric, and is overwritten. */
function symmetric_eigen(matrix) {
  const n = matrix.length;
  const vectors = matrix.map((_, i) => matrix.map((__, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < 30; ++sweep) {
    let off = 0;
    let on = 0;
    for (let i = 0; i < n; ++i)
      for (let j = 0; j < n; ++j) {
        if (i === j) on += matrix[i][i] ** 2;
        else off += matrix[i][j] ** 2;
      }
    if (!(off > 1e-22 * on)) break;
    for (let p = 0; p < n; ++p)
      for (let q = p + 1; q < n; ++q) {
        if (matrix[p][q] === 0) continue;
        const theta = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q]);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; ++k) {
          const a = matrix[k][p];
          const b = matrix[k][q];
          matrix[k][p] = c * a - s * b;
          matrix[k][q] = s * a + c * b;
        }
        for (let k = 0; k < n; ++k) {
          const a = matrix[p][k];
          const b = matrix[q][k];
          matrix[p][k] = c * a - s * b;
          matrix[q][k] = s * a + c * b;
        }
        for (let k = 0; k < n; ++k) {
          const a = vectors[k][p];
          const b = vectors[k][q];
          vectors[k][p] = c * a - s * b;
          vectors[k][q] = s * a + c * b;
        }
      }
  }
  return { values: matrix.map((line, i) => line[i]), vectors };
}

/** Round values between the two, about `wanted` of them, and two at least: one alone is no scale. */
export function ticks(lower, upper, wanted) {
  const span = upper - lower;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const raw = span / Math.max(wanted, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const out = [];
  for (let i = Math.ceil(lower / step - 1e-9); i * step <= upper + 1e-9 * step; ++i) {
    out.push(i === 0 ? 0 : Number((i * step).toPrecision(12)));
    if (out.length > 60) break;
  }
  return out.length < 2 ? ticks(lower, upper, 2 * Math.max(wanted, 1)) : out;
}

/** A number for people: four digits, commas between thousands, a true minus. */
export function number_text(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  let text;
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) text = Number(value.toPrecision(Math.max(digits - 1, 1))).toExponential().replace('e+', 'e');
  else if (Number.isInteger(value) || size >= 10 ** (digits - 1)) text = grouped(Math.round(value));
  else text = String(Number(value.toPrecision(digits)));
  return text.replace(/-/g, '−');
}

/** The same for a narrow place: millions are said, not spelled. */
export function short_text(value) {
  return Math.abs(value) >= 1e6 && Math.abs(value) < 1e9 ? `${number_text(value / 1e6)} M` : number_text(value);
}

function grouped(integer) {
  return String(integer).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function ordinal(n) {
  const last = n % 100;
  const ending = last >= 11 && last <= 13 ? 'th' : ['th', 'st', 'nd', 'rd'][n % 10] || 'th';
  return number_text(n) + ending;
}

/**
 * Points in a uniform grid over where nearly all of them are; who is outside belongs to the cell at
 * the rim that is nearest. About two points a cell, so that a search looks at a handful.
 */
export class GridIndex {
  constructor(xs, ys) {
    this.xs = xs;
    this.ys = ys;
    const count = xs.length;
    this.side = Math.max(1, Math.min(512, Math.round(Math.sqrt(count / 2))));
    [this.left, this.right] = robust_range(xs, 0.01, 0);
    [this.low, this.high] = robust_range(ys, 0.01, 0);
    const starts = new Uint32Array(this.side * this.side + 1);
    const cells = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      cells[i] = this.row(ys[i]) * this.side + this.column(xs[i]);
      ++starts[cells[i] + 1];
    }
    for (let c = 0; c < this.side * this.side; ++c) starts[c + 1] += starts[c];
    const next = starts.slice();
    this.members = new Uint32Array(count);
    for (let i = 0; i < count; ++i) this.members[next[cells[i]]++] = i;
    this.starts = starts;
  }

  column(x) {
    const at = Math.floor(((x - this.left) / (this.right - this.left)) * this.side);
    return at > 0 ? Math.min(at, this.side - 1) : 0;  // NaN goes to 0 and is never the nearest
  }

  row(y) {
    const at = Math.floor(((y - this.low) / (this.high - this.low)) * this.side);
    return at > 0 ? Math.min(at, this.side - 1) : 0;
  }

  /** Row of the nearest point within `reach`, or -1. Distances count x times `sx`, y times `sy`. */
  nearest(x, y, sx, sy, reach = Infinity, accept = null) {
    const wide = ((this.right - this.left) / this.side) * Math.abs(sx);
    const tall = ((this.high - this.low) / this.side) * Math.abs(sy);
    const smallest = Math.min(wide, tall);
    const column = this.column(x);
    const row = this.row(y);
    let best = -1;
    let closest = reach * reach;
    for (let ring = 0; ring < this.side; ++ring) {
      const bound = Math.max(0, ring - 1) * smallest;
      if (bound * bound > closest) break;
      for (let r = Math.max(0, row - ring); r <= Math.min(this.side - 1, row + ring); ++r) {
        const edge = r === row - ring || r === row + ring;
        for (let c = column - ring; c <= column + ring; c += edge || ring === 0 ? 1 : 2 * ring) {
          if (c < 0 || c >= this.side) continue;
          const cell = r * this.side + c;
          for (let at = this.starts[cell]; at < this.starts[cell + 1]; ++at) {
            const i = this.members[at];
            const dx = (this.xs[i] - x) * sx;
            const dy = (this.ys[i] - y) * sy;
            const distance = dx * dx + dy * dy;
            if (distance <= closest && (!accept || accept(i))) {
              if (distance === closest && best >= 0 && best < i) continue;
              closest = distance;
              best = i;
            }
          }
        }
      }
    }
    return best;
  }
}

/** Rows of the points inside the polygon [[x, y], ...] (even-odd rule). */
export function inside_polygon(xs, ys, polygon) {
  let left = Infinity;
  let right = -Infinity;
  let low = Infinity;
  let high = -Infinity;
  for (const [x, y] of polygon) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    low = Math.min(low, y);
    high = Math.max(high, y);
  }
  const rows = [];
  for (let i = 0; i < xs.length; ++i) {
    const x = xs[i];
    const y = ys[i];
    if (!(x >= left && x <= right && y >= low && y <= high)) continue;
    let inside = false;
    for (let a = 0, b = polygon.length - 1; a < polygon.length; b = a++) {
      const [ax, ay] = polygon[a];
      const [bx, by] = polygon[b];
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
    }
    if (inside) rows.push(i);
  }
  return Uint32Array.from(rows);
}
