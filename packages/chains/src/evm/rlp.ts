/** The shape of a list in RLP, without its content. */
export interface RlpShape {
  /** How many lists there are at each depth: one at 0, the outermost. */
  readonly lists: readonly number[];
  /** All texts of bytes, at any depth, in their order. */
  readonly texts: readonly Uint8Array[];
}

/**
 * Reads the shape of RLP in one pass over its bytes. Decoders of libraries take quadratic time for lists within lists
 * (ethers 190 ms for 4 KiB of them), so what an attacker writes is looked at here first.
 * @returns null for what is no single list, or is nested more deeply than a transaction
 */
export function shapeOf(bytes: Uint8Array, depthMax: number): RlpShape | null {
  const lists: number[] = [];
  const texts: Uint8Array[] = [];
  const read = (from: number, end: number, depth: number): boolean => {
    for (let at = from; at < end;) {
      const item = itemAt(bytes, at, end);
      if (item === null) return false;
      if (!item.isList) texts.push(bytes.subarray(item.from, item.end));
      else {
        if (depth > depthMax) return false;
        lists[depth] = (lists[depth] ?? 0) + 1;
        if (!read(item.from, item.end, depth + 1)) return false;
      }
      at = item.end;
    }
    return true;
  };
  return read(0, bytes.length, 0) && lists[0] === 1 && (bytes[0] ?? 0) >= LIST ? { lists, texts } : null;
}

const TEXT = 0x80;
const LIST = 0xc0;
/** Longer ones have their length in bytes of its own. */
const SHORT_MAX = 55;

interface Item {
  readonly isList: boolean;
  readonly from: number;
  readonly end: number;
}

/** The item that begins at this byte; null where it does not end in time. */
function itemAt(bytes: Uint8Array, at: number, limit: number): Item | null {
  const head = bytes[at] ?? 0;
  if (head < TEXT) return { isList: false, from: at, end: at + 1 };
  const isList = head >= LIST;
  const length = head - (isList ? LIST : TEXT);
  if (length <= SHORT_MAX) return within({ isList, from: at + 1, end: at + 1 + length }, limit);
  const from = at + 1 + length - SHORT_MAX;
  if (from > limit) return null;
  let size = 0;
  for (const byte of bytes.subarray(at + 1, from)) size = size * 256 + byte;
  return within({ isList, from, end: from + size }, limit);
}

const within = (item: Item, limit: number): Item | null => (item.end <= limit ? item : null);
