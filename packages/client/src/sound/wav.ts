import { SoundError } from './errors.ts';

/** Mono audio between -1 and 1. */
export interface Recording {
  readonly samples: Float32Array;
  /** In Hz. */
  readonly sampleRate: number;
}

const HEADER_BYTES = 44;
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** A WAV file of 16-bit PCM, mono. */
export function toWav({ samples, sampleRate }: Recording): Uint8Array {
  const file = new Uint8Array(HEADER_BYTES + samples.length * 2);
  const view = new DataView(file.buffer);
  const text = (at: number, characters: string): void =>
    [...characters].forEach((character, index) => view.setUint8(at + index, character.charCodeAt(0)));
  text(0, 'RIFF');
  view.setUint32(4, file.length - 8, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, PCM, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, samples.length * 2, true);
  samples.forEach((sample, index) =>
    view.setInt16(HEADER_BYTES + index * 2, Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), true),
  );
  return file;
}

/** Reads a WAV file; of several channels the first. @throws SoundError `invalid_audio` */
export function fromWav(file: Uint8Array): Recording {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const text = (at: number): string => String.fromCharCode(...file.subarray(at, at + 4));
  if (file.length < 12 || text(0) !== 'RIFF' || text(8) !== 'WAVE') throw invalid('It does not begin as a WAV file.');
  let format: Format | null = null;
  for (let at = 12; at + 8 <= file.length;) {
    const size = view.getUint32(at + 4, true);
    const begin = at + 8;
    // Programs that stream write a size of 0 or of the largest number: then the data goes on to the end.
    const end = Math.min(begin + size, file.length);
    if (text(at) === 'fmt ') {
      if (end - begin < 16) throw invalid('Its format is cut off.');
      format = formatAt(view, begin, end);
    } else if (text(at) === 'data') {
      if (format === null) throw invalid('Its data comes before its format.');
      return { samples: samplesOf(begin, size === 0 ? file.length : end, format), sampleRate: format.sampleRate };
    }
    at = end + (size % 2);
  }
  throw invalid('It has no data.');
}

interface Format {
  readonly sampleRate: number;
  /** Bytes from one sample of a channel to its next. */
  readonly stride: number;
  readonly read: (at: number) => number;
}

function formatAt(view: DataView, at: number, end: number): Format {
  const tag = view.getUint16(at, true);
  // The extensible format names the real one in the first bytes of an id.
  const kind = tag === EXTENSIBLE && end - at >= 26 ? view.getUint16(at + 24, true) : tag;
  const bits = view.getUint16(at + 14, true);
  const stride = (view.getUint16(at + 2, true) * bits) / 8;
  const read = READERS[`${kind}:${bits}`];
  if (read === undefined || stride < bits / 8) throw invalid(`It has ${bits} bits in format ${kind}.`);
  return { sampleRate: view.getUint32(at + 4, true), stride, read: (position) => read(view, position) };
}

const READERS: Readonly<Record<string, (view: DataView, at: number) => number>> = {
  [`${PCM}:8`]: (view, at) => (view.getUint8(at) - 128) / 128,
  [`${PCM}:16`]: (view, at) => view.getInt16(at, true) / 32_768,
  [`${PCM}:24`]: (view, at) => (view.getUint8(at) + view.getInt16(at + 1, true) * 256) / 8_388_608,
  [`${PCM}:32`]: (view, at) => view.getInt32(at, true) / 2_147_483_648,
  [`${FLOAT}:32`]: (view, at) => view.getFloat32(at, true),
};

function samplesOf(begin: number, end: number, { stride, read }: Format): Float32Array {
  const samples = new Float32Array(Math.floor((end - begin) / stride));
  for (let index = 0; index < samples.length; index += 1) samples[index] = read(begin + index * stride);
  return samples;
}

const invalid = (why: string): SoundError => new SoundError('invalid_audio', `The file cannot be read. ${why}`);
