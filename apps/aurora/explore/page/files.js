// An individual as a file, made here and not by a server: JSON, or NumPy's .npz, which is .npy files
// in a ZIP archive, not compressed.

/**
 * `one`: {task, id, fitness, truth: [[name, value]], descriptor, genes}. Numbers are the shortest that
 * read back to the same 4-byte floats.
 */
export function json_file(one) {
  const list = (values) => Array.from(values, shortest);
  const content = {
    task: one.task, id: one.id, fitness: shortest(one.fitness),
    ground_truth: Object.fromEntries(one.truth.map(([name, value]) => [name, shortest(value)])),
    descriptor: list(one.descriptor), genotype: list(one.genes),
  };
  return new Blob([`${JSON.stringify(content, null, 2)}\n`], { type: 'application/json' });
}

export function npz_file(one) {
  const floats = (values) => npy('<f4', `(${values.length},)`, Float32Array.from(values));
  return new Blob(zip([
    ['id.npy', npy('<u8', '()', BigUint64Array.of(BigInt(one.id)))],
    ['fitness.npy', npy('<f4', '()', Float32Array.of(one.fitness))],
    ['genotype.npy', floats(one.genes)],
    ['descriptor.npy', floats(one.descriptor)],
    ['ground_truth.npy', floats(one.truth.map(([, value]) => value))],
  ]), { type: 'application/octet-stream' });
}

function shortest(value) {
  for (let digits = 1; digits < 9; ++digits) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === Math.fround(value)) return rounded;
  }
  return Number(value.toPrecision(9));
}

/** The bytes of a .npy file, version 1.0: the data begins at a multiple of 64 bytes. */
function npy(type, shape, values) {
  const words = `{'descr': '${type}', 'fortran_order': False, 'shape': ${shape}, }`;
  const room = 64 * Math.ceil((10 + words.length + 1) / 64) - 10;
  const head = `\x93NUMPY\x01\x00${String.fromCharCode(room & 255, room >> 8)}${words.padEnd(room - 1)}\n`;
  const out = new Uint8Array(head.length + values.byteLength);
  for (let i = 0; i < head.length; ++i) out[i] = head.charCodeAt(i);
  out.set(new Uint8Array(values.buffer), head.length);
  return out;
}

/** Pieces of an archive of [name, bytes], dated 1980-01-01. */
function zip(files) {
  const pieces = [];
  const directory = [];
  let at = 0;
  for (const [name, bytes] of files) {
    const letters = new TextEncoder().encode(name);
    // Version 2.0, no flags, stored, time, date; then checksum and sizes.
    const common = [...little(2, 20, 0, 0, 0, 0x21), ...little(4, crc32(bytes), bytes.length, bytes.length), ...little(2, letters.length, 0)];
    const local = Uint8Array.from([...little(4, 0x04034b50), ...common, ...letters]);
    directory.push(...little(4, 0x02014b50), ...little(2, 20), ...common, ...little(2, 0, 0, 0), ...little(4, 0, at), ...letters);
    pieces.push(local, bytes);
    at += local.length + bytes.length;
  }
  const end = [...little(4, 0x06054b50), ...little(2, 0, 0, files.length, files.length), ...little(4, directory.length, at), ...little(2, 0)];
  return [...pieces, Uint8Array.from(directory), Uint8Array.from(end)];
}

/** Values of so many bytes each, the lowest byte first. */
function little(bytes, ...values) {
  return values.flatMap((value) => Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256));
}

function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
