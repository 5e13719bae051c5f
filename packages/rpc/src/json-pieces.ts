/** A list whose elements were read one after the other, and not kept: what was read of them. */
export class ReadList {
  readonly #items: unknown[] = [];
  #elements = 0;
  #failure: { readonly cause: unknown } | null = null;

  /** What the reader throws at one element is thrown at whoever wants the list: other calls lose nothing by it. */
  add(read: ReadElement, element: unknown): void {
    this.#elements += 1;
    if (this.#elements > ELEMENTS_MAX) throw tooLong();
    if (this.#failure !== null) return;
    try {
      this.#items.push(...read(element));
    } catch (cause) {
      this.#failure = { cause };
      this.#items.length = 0;
    }
  }

  /** @throws whatever the reader threw at an element */
  all(): readonly unknown[] {
    if (this.#failure !== null) throw this.#failure.cause;
    return this.#items;
  }
}

/** What is kept of one element of a list, which may be nothing. */
export type ReadElement = (element: unknown) => readonly unknown[];

/** Bounds of a document of JSON. */
export interface JsonBounds {
  /** In all. */
  readonly maxBytes: number;
  /** Of what is kept: all but the elements of lists that are read one after the other, of which each has this room. */
  readonly maxKeptBytes: number;
}

/** Parsed in one go, in about a millisecond; of what a hostile node writes in five. */
const PIECE_BYTES = 64 * 2 ** 10;
/** Lists, objects, and what is in them. 4 MiB of what chains show have 200,000; each takes 60 bytes, but for text. */
const VALUES_MAX = 300_000;
/** A trace has two lists or objects for each of 1,024 calls within one another. */
const DEPTH_MAX = 2_500;

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Several times what a block of Base can log: of tiny elements a response could have millions. */
const ELEMENTS_MAX = 400_000;
const tooLong = (): Error => Object.assign(new Error('the response is too long'), { code: 'ERR_BUFFER_TOO_LARGE' });

/** A list or an object that has begun. Places are counted from the beginning of the document, in bytes. */
interface Open {
  readonly isList: boolean;
  readonly from: number;
  /** From where on its text is not parsed yet. */
  cut: number;
  /** The last text in quotes that ended directly in it. */
  quoted: { readonly from: number; readonly to: number };
  /** What was parsed of it; null as long as it is text only. */
  parsed: Parsed | null;
}
interface Parsed {
  readonly value: unknown[] | Record<string, unknown> | ReadList;
  /** Its name in the object around it. */
  readonly name: string;
  /** What comes right before the text that is not parsed yet. */
  after: 'its beginning' | 'a comma' | 'a part';
  /** What was kept when it began. */
  readonly keptBytes: number;
  readonly keptValues: number;
}

/**
 * Parses a document of JSON as its bytes arrive, piece by piece: no piece takes long, and only the one that is not
 * parsed yet is held as text. It results in what JSON.parse does. Where a reader is given, the list that is the
 * `result` of a JSON-RPC response, or of any of a batch, is a ReadList in its place, unless it is short.
 */
export class JsonPieces {
  readonly #bounds: JsonBounds;
  readonly #read: ReadElement | null;
  /** The bytes that are not parsed yet, perhaps with some before them, and the place of the first one. */
  #bytes = Buffer.allocUnsafe(PIECE_BYTES);
  #base = 0;
  #total = 0;
  #scanned = 0;
  /** Up to here nothing is needed of the text. */
  #parsedTo = 0;
  /** Where the text in quotes begins in which the scan ended; null outside of any. */
  #quotedFrom: number | null = null;
  #isEscaped = false;
  readonly #open: Open[] = [];
  /** The outermost value, where that was parsed in pieces. */
  #whole: { readonly value: unknown } | null = null;
  #keptBytes = 0;
  #keptValues = 0;

  constructor(bounds: JsonBounds, read: ReadElement | null) {
    this.#bounds = bounds;
    this.#read = read;
  }

  /**
   * Takes the next bytes. All of them are scanned in one go: a few pieces at most may be given at a time.
   * @throws SyntaxError where it is no JSON, and an error of the code of a decoder whose output is too long
   */
  add(bytes: Uint8Array): void {
    this.#append(bytes);
    this.#keptBytes += bytes.length;
    const { maxBytes, maxKeptBytes } = this.#bounds;
    if (this.#total > maxBytes) throw tooLong();
    // What is short is parsed in one go.
    if (this.#total > PIECE_BYTES) this.#scan();
    if (this.#keptBytes > maxKeptBytes || this.#keptValues > VALUES_MAX) throw tooLong();
  }

  /** The whole document. @throws SyntaxError where it is no JSON, or not all of it */
  end(): unknown {
    if (this.#open.length > 0) throw new SyntaxError('it is cut');
    const rest = this.#textOf(this.#parsedTo, this.#total);
    if (this.#whole === null) return JSON.parse(rest);
    if (rest.trim() !== '') throw new SyntaxError('there is more than one document');
    return this.#whole.value;
  }

  #append(bytes: Uint8Array): void {
    if (this.#total - this.#base + bytes.length > this.#bytes.length) {
      const unparsed = this.#bytes.subarray(this.#parsedTo - this.#base, this.#total - this.#base);
      this.#bytes = Buffer.allocUnsafe(Math.max(2 * (unparsed.length + bytes.length), 4 * PIECE_BYTES));
      this.#bytes.set(unparsed);
      this.#base = this.#parsedTo;
    }
    this.#bytes.set(bytes, this.#total - this.#base);
    this.#total += bytes.length;
  }

  #textOf(from: number, to: number): string {
    return this.#bytes.toString('utf8', from - this.#base, to - this.#base);
  }

  #scan(): void {
    const bytes = this.#bytes;
    const base = this.#base;
    const length = this.#total - base;
    let quotedFrom = this.#quotedFrom;
    let isEscaped = this.#isEscaped;
    for (let at = this.#scanned - base; at < length; at += 1) {
      const byte = bytes[at];
      if (quotedFrom !== null) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          const open = this.#open.at(-1);
          if (open !== undefined) open.quoted = { from: quotedFrom, to: base + at + 1 };
          quotedFrom = null;
        }
      } else if (byte === QUOTE) quotedFrom = base + at;
      else if (byte === COMMA) {
        this.#keptValues += 1;
        if (base + at - this.#parsedTo >= PIECE_BYTES) this.#cutAt(base + at);
      } else if (byte === LIST || byte === OBJECT) this.#begin(base + at, byte === LIST);
      else if (byte === LIST_END || byte === OBJECT_END) this.#end(base + at, byte === LIST_END);
    }
    this.#quotedFrom = quotedFrom;
    this.#isEscaped = isEscaped;
    this.#scanned = this.#total;
  }

  #begin(from: number, isList: boolean): void {
    this.#keptValues += 1;
    if (this.#open.length === DEPTH_MAX) throw tooLong();
    this.#open.push({ isList, from, cut: from + 1, quoted: { from, to: from }, parsed: null });
  }

  /** Parses all before this comma, and what it stands in from here on. */
  #cutAt(comma: number): void {
    const open = this.#open.at(-1);
    if (open === undefined) return;
    for (const place of this.#open.keys()) this.#beginToParse(place);
    this.#parse(open, comma, 'a comma');
    this.#cut(open, comma + 1);
  }

  #cut(open: Open, at: number): void {
    open.cut = at;
    this.#parsedTo = at;
  }

  #end(at: number, isList: boolean): void {
    const open = this.#open.pop();
    if (open?.isList !== isList) throw new SyntaxError('a bracket closes nothing');
    const { parsed } = open;
    if (parsed === null) return;
    this.#parse(open, at, 'its end');
    const around = this.#open.at(-1);
    if (around === undefined) {
      this.#whole = { value: parsed.value };
      this.#parsedTo = at + 1;
      return;
    }
    this.#put(around.parsed as Parsed, parsed.name, parsed.value);
    (around.parsed as Parsed).after = 'a part';
    this.#cut(around, at + 1);
  }

  /** What was text only until now is parsed from here on, and so is all before it in what it stands in. */
  #beginToParse(place: number): void {
    const open = this.#open[place] as Open;
    if (open.parsed !== null) return;
    const { isList, from } = open;
    const around = this.#open[place - 1];
    if (around === undefined && (this.#whole !== null || this.#textOf(this.#parsedTo, from).trim() !== ''))
      throw new SyntaxError('there is more than one document');
    const name = around === undefined ? '' : this.#nameOf(from, around);
    const ofResponse = this.#open[0]?.isList === true ? 2 : 1;
    const isRead = this.#read !== null && isList && place === ofResponse && name === 'result';
    const value = isRead ? new ReadList() : isList ? [] : {};
    open.parsed = { value, name, after: 'its beginning', keptBytes: this.#keptBytes, keptValues: this.#keptValues };
  }

  /** Parses what is before a part of a list or an object. @returns its name, '' in a list */
  #nameOf(from: number, around: Open): string {
    if (around.isList) {
      this.#parse(around, from, 'a part');
      return '';
    }
    const { quoted } = around;
    if (quoted.from < around.cut || this.#textOf(quoted.to, from).trim() !== ':')
      throw new SyntaxError('a part of an object has no name');
    this.#parse(around, quoted.from, 'a part');
    return JSON.parse(this.#textOf(quoted.from, quoted.to)) as string;
  }

  /** Parses what is left up to here, and sees that commas are where they belong. */
  #parse({ isList, cut, parsed: begun }: Open, to: number, next: 'a comma' | 'a part' | 'its end'): void {
    const parsed = begun as Parsed;
    let text = this.#textOf(cut, to).trim();
    if (parsed.after === 'a part') {
      if (text === '' && next !== 'a part') {
        parsed.after = next === 'a comma' ? next : 'a part';
        return;
      }
      if (!text.startsWith(',')) throw new SyntaxError('there is no comma between two parts');
      text = text.slice(1).trim();
      parsed.after = 'a comma';
    }
    if (text === '') {
      if (next === 'a comma' || (next === 'its end' && parsed.after === 'a comma'))
        throw new SyntaxError('there is no part beside a comma');
      return;
    }
    if (next === 'a part') {
      if (!text.endsWith(',')) throw new SyntaxError('there is no comma between two parts');
      text = text.slice(0, -1);
    }
    parsed.after = 'a comma';
    if (text.trim() === '') throw new SyntaxError('there is no part beside a comma');
    if (isList) for (const value of JSON.parse(`[${text}]`) as unknown[]) this.#put(parsed, '', value);
    else for (const [name, value] of Object.entries(JSON.parse(`{${text}}`) as object)) this.#put(parsed, name, value);
  }

  #put({ value: into, keptBytes, keptValues }: Parsed, name: string, value: unknown): void {
    if (into instanceof ReadList) {
      into.add(this.#read as ReadElement, value);
      // The element is not kept.
      [this.#keptBytes, this.#keptValues] = [keptBytes, keptValues];
    } else if (Array.isArray(into)) into.push(value);
    // As JSON.parse does, whatever the name: `__proto__` is one like others.
    else Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });
  }
}
