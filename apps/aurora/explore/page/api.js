// What the server, or the folder of an export, knows. Asks again only for what changed.

/** An answer that is no answer; `message` is for people. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Columns of a container: {count, iteration, etag, columns: {name: {values, components}}}. */
export function read_container(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = {};
  let at = 4 + length;
  for (const { name, type, components } of head.columns) {
    const count = head.count * components;
    const values = type === 'u32' ? new Uint32Array(buffer, at, count) : new Float32Array(buffer, at, count);
    columns[name] = { values, components };
    at += 4 * count;
  }
  return { count: head.count, iteration: head.iteration, etag: head.etag, columns };
}

class LiveApi {
  constructor() {
    this.live = true;
  }

  address(path, parameters = {}) {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(parameters))
      if (value !== undefined && value !== null && value !== '') query.set(key, value);
    const text = query.toString();
    return `api/${path}${text ? `?${text}` : ''}`;
  }

  /** The response, or null if it still has the `etag`. */
  async ask(path, parameters, { etag, signal } = {}) {
    const headers = etag ? { 'If-None-Match': etag } : {};
    let response;
    try {
      response = await fetch(this.address(path, parameters), { headers, signal, cache: 'no-store' });
    } catch (problem) {
      if (problem.name === 'AbortError') throw problem;
      throw new ApiError('The server does not answer.', 0);
    }
    if (response.status === 304) return null;
    if (response.ok) return response;
    let message = `The server answers ${response.status}.`;
    try {
      message = (await response.json()).error || message;
    } catch {
      // no JSON: the status has to do
    }
    throw new ApiError(message, response.status);
  }

  async json(path, parameters, options) {
    const response = await this.ask(path, parameters, options);
    return response && response.json();
  }

  runs() {
    return this.json('runs');
  }

  run(id) {
    return this.json(`runs/${id}`);
  }

  async container(id, at, etag) {
    const response = await this.ask(`runs/${id}/container`, { at }, { etag });
    if (!response) return null;
    const container = read_container(await response.arrayBuffer());
    container.etag = response.headers.get('ETag') || container.etag;
    return container;
  }

  /** The novelty of each individual of a container that was got from here; null if that is gone. */
  async novelty(id, at, etag) {
    const response = await this.ask(`runs/${id}/novelty`, { at });
    return response.headers.get('ETag') === etag ? new Float32Array(await response.arrayBuffer()) : null;
  }

  metrics(id, from) {
    return this.json(`runs/${id}/metrics`, { from });
  }

  training(id, from) {
    return this.json(`runs/${id}/training`, { from });
  }

  individual(id, individual, at, signal) {
    return this.json(`runs/${id}/individual`, { id: individual, at }, { signal });
  }

  /**
   * Address of a picture, as a blob of its own so that errors have words; call `release` after use.
   * Null if there is none.
   */
  async media(id, what, individual, at, signal) {
    const [path, parameters] = this.media_parts(what);
    const ask = () => this.ask(`runs/${id}/${path}`, { id: individual, at, ...parameters }, { signal });
    let response;
    for (let attempt = 0; !response; ++attempt) {
      try {
        response = await ask();
      } catch (problem) {
        if (problem.status !== 503 || attempt >= 6) throw problem;  // replays queue up there
        await new Promise((resolve) => setTimeout(resolve, 300 * (attempt + 1)));
      }
    }
    if (response.status === 204) return null;
    const url = URL.createObjectURL(await response.blob());
    return { url, release: () => URL.revokeObjectURL(url) };
  }

  media_parts(what) {
    return what === 'film' ? ['film', { kind: 'apng' }] : [what, {}];
  }

  /** Where the film is as a GIF; null if it is not. */
  gif(id, individual, at) {
    return this.address(`runs/${id}/film`, { id: individual, at, kind: 'gif' });
  }

  has_media() {
    return true;
  }

  async backdrop(id) {
    const response = await this.ask(`runs/${id}/backdrop`);
    return response.status === 204 ? null : createImageBitmap(await response.blob());
  }
}

/** A folder written by --export: data.js has its answers, and names the pictures that lie in data/. */
class StoredApi {
  constructor(stored) {
    this.live = false;
    this.answers = stored.answers || {};
    this.files = new Set(stored.files || []);
    this.genotypes = new Map();  // of a run: {rows by id, genes, of each}
  }

  bytes(name) {
    const text = this.answers[name];
    if (text === undefined) return null;
    const binary = atob(text);
    const out = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) out[i] = binary.charCodeAt(i);
    return out;
  }

  json_of(name) {
    const bytes = this.bytes(name);
    return bytes && JSON.parse(new TextDecoder().decode(bytes));
  }

  async runs() {
    return this.json_of('runs.json') || { runs: [] };
  }

  async run(id) {
    const answer = this.json_of(`runs/${id}.json`);
    if (!answer) throw new ApiError('This run is not in the export.', 404);
    return answer;
  }

  async container(id, at, etag) {
    const bytes = this.bytes(at ? `runs/${id}/container-at-${at}.bin` : `runs/${id}/container.bin`);
    if (!bytes) throw new ApiError('This container is not in the export.', 404);
    const container = read_container(bytes.buffer);
    return etag && etag === container.etag ? null : container;
  }

  async novelty(id, at) {
    const bytes = this.bytes(at ? `runs/${id}/novelty-at-${at}.bin` : `runs/${id}/novelty.bin`);
    return bytes && new Float32Array(bytes.buffer);
  }

  async metrics(id, from) {
    return from ? { columns: [], rows: [], from, next: from } : this.json_of(`runs/${id}/metrics.json`) || { columns: [], rows: [], next: 0 };
  }

  async training(id, from) {
    return from ? { columns: [], rows: [], from, next: from } : this.json_of(`runs/${id}/training.json`) || { columns: [], rows: [], next: 0 };
  }

  /** Of everybody the genes; of those with a film all that the server would say. */
  async individual(id, individual) {
    return { genes: this.genes_of(id, individual), ...this.json_of(`runs/${id}/individual-${individual}.json`) };
  }

  genes_of(id, individual) {
    if (!this.genotypes.has(id)) {
      const bytes = this.bytes(`runs/${id}/genotypes.bin`);
      const { columns } = bytes ? read_container(bytes.buffer) : { columns: {} };
      const rows = new Map(columns.id ? Array.from(columns.id.values, (one, row) => [one, row]) : []);
      this.genotypes.set(id, { rows, ...columns.genotype });
    }
    const { rows, values, components } = this.genotypes.get(id);
    const row = rows.get(individual);
    return row === undefined || !values ? [] : Array.from(values.subarray(row * components, (row + 1) * components));
  }

  has_media(id, individual) {
    return this.files.has(`runs/${id}/individual-${individual}.png`);
  }

  async media(id, what, individual) {
    const ending = { film: '-film.apng', picture: '.png', sensory: '-sensory.png' }[what];
    const name = `runs/${id}/individual-${individual}${ending}`;
    if (this.files.has(name)) return { url: `data/${name}`, release: () => {} };
    if (this.has_media(id, individual)) return null;
    throw new ApiError('Of this one nothing was exported; those with a ring have a film.', 404);
  }

  gif(id, individual) {
    const name = `runs/${id}/individual-${individual}-film.gif`;
    return this.files.has(name) ? `data/${name}` : null;
  }

  async backdrop(id) {
    const name = `runs/${id}/backdrop.png`;
    if (!this.files.has(name)) return null;
    const image = new Image();
    image.src = `data/${name}`;
    await image.decode();
    return image;
  }

  /** Individuals that have pictures. */
  pictured(id) {
    const out = [];
    for (const name of this.files) {
      const match = name.match(/^runs\/(\d+)\/individual-(\d+)\.png$/);
      if (match && Number(match[1]) === id) out.push(Number(match[2]));
    }
    return out;
  }
}

export function open_api() {
  return window.aurora_export ? new StoredApi(window.aurora_export) : new LiveApi();
}

const kPieces = 64;  // of a long table, at one go

/** A growing table of numbers, asked for from where it was last read. Never more than `most` rows. */
export class Table {
  constructor(ask, most = 4000) {
    this.ask = ask;
    this.most = most;
    this.columns = [];
    this.rows = [];
    this.next = 0;
  }

  /** True if there was something new. */
  async refresh() {
    let grown = false;
    for (let piece = 0; piece < kPieces; ++piece) {
      const answer = await this.ask(this.next);
      if (answer.from === 0 && this.next > 0) this.rows = [];  // begun anew
      const more = answer.next !== this.next;
      this.next = answer.next;
      if (answer.columns.length) this.columns = answer.columns;
      for (const row of answer.rows) this.rows.push(row);
      while (this.rows.length > this.most)  // what is old gets coarser, the newest stays
        this.rows = this.rows.filter((_, i) => i % 2 === 0 || i === this.rows.length - 1);
      if (!more) break;
      grown = true;
    }
    return grown;
  }

  column(name) {
    const at = this.columns.indexOf(name);
    return at < 0 ? null : this.rows.map((row) => (row[at] === null ? NaN : row[at]));
  }
}
