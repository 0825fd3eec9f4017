// Colour ramps that people with any colour vision can read: dark is little, bright is much. Each is
// interpolated between ten published anchor colours of the ramp of that name.
import { quantiles, thinned } from './maths.js';

const kRamps = {
  viridis: '440154 482878 3e4989 31688e 26828e 1f9e89 35b779 6ece58 b5de2b fde725',
  cividis: '00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838',
  plasma: '0d0887 46039f 7201a8 9c179e bd3786 d8576b ed7953 fb9f3a fdca26 f0f921',
};

export const palette_names = Object.keys(kRamps);

/** 256 colours, RGB bytes. In the dark the ramp begins, in the light it ends, where it can be seen. */
export function ramp(name, dark) {
  const anchors = (kRamps[name] || kRamps.viridis)
    .split(' ')
    .map((text) => [0, 2, 4].map((at) => parseInt(text.slice(at, at + 2), 16)));
  const [first, last] = dark ? [0.14, 1] : [0, 0.95];
  const out = new Uint8Array(256 * 3);
  for (let i = 0; i < 256; ++i) {
    const at = (first + (last - first) * (i / 255)) * (anchors.length - 1);
    const low = Math.min(Math.floor(at), anchors.length - 2);
    for (let c = 0; c < 3; ++c)
      out[i * 3 + c] = Math.round(anchors[low][c] + (anchors[low + 1][c] - anchors[low][c]) * (at - low));
  }
  return out;
}

/** From where to where the colours go: the middle 96 % if a few outliers would eat the ramp. */
export function colour_range(values) {
  let lowest = Infinity;
  let highest = -Infinity;
  for (const value of values) {
    if (value < lowest && value > -Infinity) lowest = value;
    if (value > highest && value < Infinity) highest = value;
  }
  const [low, high] = quantiles(thinned(values, 10000), [0.02, 0.98]);
  if (!(lowest <= highest) || !Number.isFinite(low)) return { low: 0, high: 1, clipped_low: false, clipped_high: false };
  const middle = high - low;
  const clip_low = middle > 0 && low - lowest > 0.15 * middle;
  const clip_high = middle > 0 && highest - high > 0.15 * middle;
  let range = { low: clip_low ? low : lowest, high: clip_high ? high : highest };
  if (!(range.high > range.low)) range = { low: range.low - 0.5, high: range.high + 0.5 };
  return { ...range, clipped_low: clip_low, clipped_high: clip_high };
}

/** RGBA bytes of every value; what is no number is grey. */
export function colours_of(values, range, colours) {
  const out = new Uint8Array(values.length * 4);
  const scale = 255 / (range.high - range.low);
  for (let i = 0; i < values.length; ++i) {
    const value = values[i];
    if (value !== value) {
      out.set([128, 128, 128, 255], i * 4);
      continue;
    }
    const at = 3 * Math.max(0, Math.min(255, Math.round((value - range.low) * scale)));
    out[i * 4] = colours[at];
    out[i * 4 + 1] = colours[at + 1];
    out[i * 4 + 2] = colours[at + 2];
    out[i * 4 + 3] = 255;
  }
  return out;
}

/** Draws the ramp from left to right into a canvas. */
export function draw_ramp(canvas, colours) {
  canvas.width = 256;
  canvas.height = 1;
  const context = canvas.getContext('2d');
  const image = context.createImageData(256, 1);
  for (let i = 0; i < 256; ++i) image.data.set([...colours.subarray(i * 3, i * 3 + 3), 255], i * 4);
  context.putImageData(image, 0, 0);
}

/** Colours of groups, told apart by everybody (after Okabe and Ito). */
export function group_colour(index, dark) {
  const light = ['#0072b2', '#d55e00', '#009e73', '#b3589a', '#a67c00', '#3f8fc4', '#5c6470'];
  const night = ['#56b4e9', '#f0813a', '#2cc79a', '#d98cc0', '#f0e442', '#8fb8ff', '#aab4c2'];
  const all = dark ? night : light;
  return all[index % all.length];
}
