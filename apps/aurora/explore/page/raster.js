// Points without a graphics card: discs blended straight into the bytes of a picture. Where WebGL is
// made by the processor anyway, this is many times faster than asking it.

const kPhases = 4;  // places within a pixel that a disc may have, across and down

/**
 * Which pixels a disc covers, and how much of each (1 to 255), for each phase: across and down from
 * the corner of a square of `side` pixels.
 */
function disc_pixels(size) {
  const side = Math.ceil(size) + 2;
  const phases = [];
  for (let phase = 0; phase < kPhases * kPhases; ++phase) {
    const cx = side / 2 + ((phase % kPhases) + 0.5) / kPhases - 0.5;
    const cy = side / 2 + (Math.floor(phase / kPhases) + 0.5) / kPhases - 0.5;
    const pixels = { across: [], down: [], shares: [] };
    for (let y = 0; y < side; ++y)
      for (let x = 0; x < side; ++x) {
        const share = Math.round(255 * Math.max(0, Math.min(1, size / 2 - Math.hypot(x + 0.5 - cx, y + 0.5 - cy) + 0.5)));
        if (share < 8) continue;
        pixels.across.push(x);
        pixels.down.push(y);
        pixels.shares.push(share);
      }
    phases.push(Object.fromEntries(Object.entries(pixels).map(([name, list]) => [name, Uint8Array.from(list)])));
  }
  return { side, phases };
}

export class Raster {
  constructor() {
    this.size = 0;
  }

  /** Begins an empty picture. */
  begin(width, height) {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);  // alpha, blue, green, red from the top
    } else {
      this.words.fill(0);
    }
  }

  /**
   * Discs of `size` pixels at (x * sx + tx, y * sy + ty); `rows` are those to be drawn, null for all.
   * Colours are RGBA bytes, of which the last is not looked at; `strength` is 0 to 1.
   */
  discs(xs, ys, [sx, tx, sy, ty], colours, rows, size, strength) {
    if (Math.abs(size - this.size) > 1e-3) {
      this.disc = disc_pixels(size);
      this.size = size;
    }
    const { side, phases } = this.disc;
    const { width, height } = this.image;
    const { words } = this;
    const count = rows ? rows.length : Math.min(xs.length, colours.length / 4);
    const shift = 0.5 - side / 2;
    const opaque = Math.round(strength * 256);
    for (let k = 0; k < count; ++k) {
      const i = rows ? rows[k] : k;
      const px = xs[i] * sx + tx + shift;
      const py = ys[i] * sy + ty + shift;
      if (!(px > -side && py > -side && px < width && py < height)) continue;
      const left = Math.floor(px);
      const top = Math.floor(py);
      const { across, down, shares } = phases[(((py - top) * kPhases) | 0) * kPhases + (((px - left) * kPhases) | 0)];
      const red = colours[4 * i];
      const green = colours[4 * i + 1];
      const blue = colours[4 * i + 2];
      const colour = red | (green << 8) | (blue << 16);
      const inside = left >= 0 && top >= 0 && left + side <= width && top + side <= height;
      for (let e = 0; e < shares.length; ++e) {
        const x = left + across[e];
        const y = top + down[e];
        if (!inside && (x < 0 || y < 0 || x >= width || y >= height)) continue;
        const at = y * width + x;
        const share = (shares[e] * opaque) >> 8;
        const old = words[at];
        if (old === 0 || share > 250) {
          words[at] = colour | (share << 24);
          continue;
        }
        const below = ((old >>> 24) * (255 - share)) / 255;  // what still shines through
        const sum = share + below;
        const a = share / sum;
        const b = 1 - a;
        words[at] = (red * a + (old & 255) * b) | ((green * a + ((old >> 8) & 255) * b) << 8) |
          ((blue * a + ((old >> 16) & 255) * b) << 16) | ((sum + 0.5) << 24);
      }
    }
  }

  show(canvas) {
    const { width, height } = this.image;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    canvas.getContext('2d').putImageData(this.image, 0, 0);
  }
}
