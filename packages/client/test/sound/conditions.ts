import { encode, decode, type Pace } from '../../src/sound/node.ts';
import {
  amplified,
  drifted,
  intentOf,
  joined,
  muffled,
  mixed,
  noisy,
  randomOf,
  RATE,
  reverberant,
  silence,
  surrounded,
} from './channel.ts';
import { resample } from '../../src/sound/resampler.ts';

/** A way from a speaker to a microphone, and how many sounds of ten get through it at the least. */
export interface Condition {
  readonly name: string;
  readonly atLeast: Readonly<Record<Pace, number>>;
  /** @param other the same sound with another id */
  readonly way: (sound: Float32Array, seed: number, other: Float32Array) => Float32Array;
  /** The rate at which it is recorded, in Hz. Default 48,000. */
  readonly sampleRate?: number;
}

const room = (seconds: number, ratio: number) => (sound: Float32Array, seed: number) =>
  noisy(reverberant(sound, seconds, ratio, seed), 10, seed);

export const CONDITIONS: readonly Condition[] = [
  { name: 'nothing in between', atLeast: { fast: 10, normal: 10 }, way: surrounded },
  {
    name: 'white noise, 5 dB louder than the sound',
    atLeast: { fast: 10, normal: 10 },
    way: (sound, seed) => noisy(sound, -5, seed),
  },
  {
    name: 'white noise, 8 dB louder',
    atLeast: { fast: 9, normal: 9 },
    way: (sound, seed) => noisy(sound, -8, seed),
  },
  {
    name: 'white noise, 11 dB louder',
    atLeast: { fast: 4, normal: 4 },
    way: (sound, seed) => noisy(sound, -11, seed),
  },
  { name: 'a room: echoes as loud as the sound, over 0.4 s', atLeast: { fast: 9, normal: 9 }, way: room(0.4, 1) },
  { name: 'a room: echoes twice as loud, over 0.6 s', atLeast: { fast: 5, normal: 8 }, way: room(0.6, 2) },
  {
    name: 'a speaker 12 dB weaker above 17.5 kHz, and noise 5 dB quieter than the sound',
    atLeast: { fast: 9, normal: 9 },
    way: (sound, seed) => noisy(muffled(sound, 17_500, 12), 5, seed),
  },
  {
    name: 'a microphone at 44.1 kHz, and white noise 5 dB louder',
    atLeast: { fast: 10, normal: 10 },
    way: (sound, seed) => resample(noisy(sound, -5, seed), RATE, 44_100),
    sampleRate: 44_100,
  },
  {
    name: 'a clock slow by 300 ppm',
    atLeast: { fast: 10, normal: 10 },
    way: (sound) => surrounded(drifted(sound, 300)),
  },
  {
    name: 'a clock fast by 500 ppm',
    atLeast: { fast: 4, normal: 10 },
    way: (sound) => surrounded(drifted(sound, -500)),
  },
  {
    name: 'a second sound, 12 dB quieter',
    atLeast: { fast: 9, normal: 9 },
    way: (sound, _, other) => surrounded(mixed(sound, amplified(other, -12))),
  },
  {
    name: 'a second sound, half a second later',
    atLeast: { fast: 7, normal: 4 },
    way: (sound, _, other) => surrounded(mixed(sound, other, 0.5)),
  },
];

/** How many sounds get through, and how many ids were heard that were not said. */
export async function tried(
  { way, sampleRate = RATE }: Condition,
  pace: Pace,
  tries: number,
): Promise<{ readonly heard: number; readonly wrong: number }> {
  let heard = 0;
  let wrong = 0;
  for (let seed = 1; seed <= tries; seed += 1) {
    const [one, other] = [intentOf(seed), intentOf(-seed)];
    const sound = way((await encode(one, { pace })).samples, seed, (await encode(other, { pace })).samples);
    // It begins anywhere in the modem's frames.
    const samples = joined(silence(randomOf(seed)() * 0.02), sound);
    const ids = (await decode({ samples, sampleRate })).map(({ id }) => id);
    if (ids.includes(one.id)) heard += 1;
    wrong += ids.filter((id) => id !== one.id && id !== other.id).length;
  }
  return { heard, wrong };
}
