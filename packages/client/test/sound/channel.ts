import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { resample } from '../../src/sound/resampler.ts';

const { cos, imul, log, PI, round, sin, sqrt } = Math;

/** What happens to a sound between a speaker and a microphone, the same in every run. All samples are at 48 kHz. */
export const RATE = 48_000;

/** Mulberry32: numbers between 0 and 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An intent's id for each seed. */
export const intentOf = (seed: number, livemode = false) => ({
  id: `pi_${base58.encode(createHash('sha256').update(String(seed)).digest().subarray(0, 16))}`,
  livemode,
});

const powerOf = (samples: Float32Array): number =>
  samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
export const silence = (seconds: number): Float32Array => new Float32Array(round(seconds * RATE));

export function joined(...parts: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Half a second before and after, as a microphone hears it. */
export const surrounded = (sound: Float32Array): Float32Array => joined(silence(0.5), sound, silence(0.5));

export const amplified = (sound: Float32Array, decibels: number): Float32Array =>
  sound.map((sample) => sample * 10 ** (decibels / 20));

/** Adds a second sound, `seconds` later. */
export function mixed(sound: Float32Array, other: Float32Array, seconds = 0): Float32Array {
  const at = round(seconds * RATE);
  const both = new Float32Array(Math.max(sound.length, at + other.length));
  both.set(sound);
  other.forEach((sample, index) => (both[at + index] = (both[at + index] ?? 0) + sample));
  return both;
}

/** White noise over all frequencies up to 24 kHz, so many decibels below the sound. */
export function noisy(sound: Float32Array, snr: number, seed: number): Float32Array {
  const random = randomOf(seed);
  const deviation = sqrt(powerOf(sound) / 10 ** (snr / 10));
  // Box and Muller's normal distribution.
  return surrounded(sound).map((sample) => sample + deviation * sqrt(-2 * log(1 - random())) * cos(2 * PI * random()));
}

/**
 * A room: echoes that fade by 60 dB in `seconds`.
 * @param ratio the energy of the echoes over that of the direct sound
 */
export function reverberant(sound: Float32Array, seconds: number, ratio: number, seed: number): Float32Array {
  const random = randomOf(seed);
  const echoes = Array.from({ length: 400 }, () => {
    const delay = random() * seconds;
    return { delay: round((0.001 + delay) * RATE), gain: (random() - 0.5) * 10 ** ((-3 * delay) / seconds) };
  });
  const energy = echoes.reduce((sum, { gain }) => sum + gain * gain, 0);
  const room = joined(sound, silence(seconds + 0.1));
  const wet = room.slice();
  for (const { delay, gain } of echoes) {
    const scaled = gain * sqrt(ratio / energy);
    for (let index = 0; index < sound.length; index += 1)
      wet[index + delay] = (wet[index + delay] ?? 0) + scaled * (sound[index] ?? 0);
  }
  return wet;
}

/** A speaker or microphone that is so many decibels weaker above a frequency in Hz. */
export function muffled(sound: Float32Array, cutoff: number, decibels: number): Float32Array {
  const half = 64;
  const kernel = Float32Array.from({ length: 2 * half + 1 }, (_, tap) => {
    const x = tap - half;
    const sinc = x === 0 ? (2 * cutoff) / RATE : sin((2 * PI * cutoff * x) / RATE) / (PI * x);
    return sinc * (0.54 + 0.46 * cos((PI * x) / half));
  });
  const above = 10 ** (-decibels / 20);
  return sound.map((sample, index) => {
    let below = 0;
    for (let tap = 0; tap < kernel.length; tap += 1) below += (kernel[tap] ?? 0) * (sound[index + tap - half] ?? 0);
    return below + above * (sample - below);
  });
}

/** As heard by a device whose clock is slow by so many parts per million. */
export const drifted = (sound: Float32Array, ppm: number): Float32Array =>
  resample(sound, RATE, RATE * (1 - ppm / 1e6));
