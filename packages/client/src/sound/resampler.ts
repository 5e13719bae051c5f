import { SoundError } from './errors.ts';

/** The rate at which the modem works, in Hz. It has an error at 44.1 kHz, so that others are converted before. */
export const MODEM_RATE = 48_000;
/** The highest frequency of the modem is 19.5 kHz: half of the rate must be above it. */
const LOWEST_RATE = 40_000;
const HIGHEST_RATE = 384_000;
/** Samples on each side, at the lower of the two rates: 70 dB down from 24.6 kHz on at 44.1 kHz. */
const HALF_WIDTH = 32;
/** Positions between two samples for which coefficients are computed. 160 are exact from 44.1 to 48 kHz. */
const MAX_PHASES = 1_024;

/** @throws SoundError `sample_rate` when a rate in Hz is too low to carry the sound */
export function checkRate(rate: number, what: string): void {
  if (!(rate >= LOWEST_RATE && rate <= HIGHEST_RATE))
    throw new SoundError('sample_rate', `${what} works at ${rate} Hz; ${LOWEST_RATE} to ${HIGHEST_RATE} are needed.`);
}

/**
 * Converts audio from one rate to another, piece by piece: a windowed sinc in as many phases as the ratio has. What
 * browsers use for sources of another rate is too rough for frequencies this high.
 */
export class Resampler {
  readonly #step: number;
  readonly #phases: number;
  readonly #taps: number;
  readonly #coefficients: Float32Array;
  /** Input that later output still needs. */
  #kept: Float32Array;
  /** Where the next output lies in `#kept`, from its first tap on. */
  #position = 0;

  /** @throws SoundError `sample_rate` */
  constructor(from: number, to: number) {
    checkRate(from, 'The source');
    checkRate(to, 'The target');
    this.#step = from / to;
    const exact = Number.isInteger(from) && Number.isInteger(to) ? to / greatestDivisor(from, to) : MAX_PHASES;
    this.#phases = Math.min(exact, MAX_PHASES);
    const half = Math.ceil(HALF_WIDTH * Math.max(1, this.#step));
    this.#taps = 2 * half;
    this.#coefficients = new Float32Array(this.#phases * this.#taps);
    const cutoff = Math.min(1, to / from);
    for (let phase = 0; phase < this.#phases; phase += 1) {
      const row = this.#coefficients.subarray(phase * this.#taps, (phase + 1) * this.#taps);
      for (let tap = 0; tap < this.#taps; tap += 1) {
        const distance = tap - half + 1 - phase / this.#phases;
        row[tap] = cutoff * sinc(cutoff * distance) * blackman(distance / half);
      }
      const sum = row.reduce((total, one) => total + one, 0);
      for (let tap = 0; tap < this.#taps; tap += 1) row[tap] = (row[tap] ?? 0) / sum;
    }
    // The first output is the first input: what comes before it is silence.
    this.#kept = new Float32Array(half - 1);
  }

  /** @returns as much output as the input so far allows */
  push(input: Float32Array): Float32Array {
    const samples = new Float32Array(this.#kept.length + input.length);
    samples.set(this.#kept);
    samples.set(input, this.#kept.length);
    const last = samples.length - this.#taps;
    const output = new Float32Array(Math.max(0, Math.floor((last - this.#position) / this.#step) + 1));
    let count = 0;
    let position = this.#position;
    for (; count < output.length; count += 1, position += this.#step) {
      let first = Math.floor(position);
      let phase = Math.round((position - first) * this.#phases);
      if (phase === this.#phases) [first, phase] = [first + 1, 0];
      if (first > last) break;
      const row = phase * this.#taps;
      let sum = 0;
      for (let tap = 0; tap < this.#taps; tap += 1)
        sum += (samples[first + tap] ?? 0) * (this.#coefficients[row + tap] ?? 0);
      output[count] = sum;
    }
    const used = Math.min(Math.floor(position), samples.length);
    this.#kept = samples.slice(used);
    this.#position = position - used;
    return output.subarray(0, count);
  }
}

/** Converts a whole recording. @throws SoundError `sample_rate` */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  checkRate(from, 'The source');
  if (from === to) return samples;
  const resampler = new Resampler(from, to);
  const padded = new Float32Array(samples.length + 2 * HALF_WIDTH * Math.ceil(Math.max(1, from / to)));
  padded.set(samples);
  return resampler.push(padded).subarray(0, Math.ceil((samples.length * to) / from));
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));
const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
const blackman = (x: number): number =>
  Math.abs(x) >= 1 ? 0 : 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);
