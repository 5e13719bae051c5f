import { SoundError } from './errors.ts';
import type { Pace } from './modem.ts';
import { type Announced, payloadOf } from './payload.ts';
import { pause } from '../pause.ts';
import { checkRate } from './resampler.ts';
import { type ScriptUrl, scriptUrl, SoundWorker } from './worker.ts';

export interface AnnounceOptions {
  /** Ends it, as soon as the intent is detected or the page is left. That is no error. */
  readonly signal?: AbortSignal;
  /** Where `@pf/client/sound/script.js` is served, of the page's own origin. */
  readonly script?: ScriptUrl;
  /** For how long it is repeated, in seconds. Default 60. */
  readonly seconds?: number;
  /** 1 to 100, in percent of full scale. Default 50. */
  readonly volume?: number;
  /** Called when it begins to play, and how often it has by then. */
  readonly onPlay?: (play: { readonly count: number; readonly pace: Pace }) => void;
}

/** Those who have not understood two fast ones may be in a room with echoes. */
const FAST_PLAYS = 2;
/** Two who announce at once must not do so for ever. */
const GAP_MS = { min: 300, max: 1_500 };
/** A browser that waits for a click resumes a context only then. */
const PATIENCE_MS = 1_000;

/**
 * Plays the id of an intent to devices nearby, above most people's hearing, until it is aborted or the time is over.
 * Call it from a click. What is played is public and proves nothing.
 * @returns how often it was played
 * @throws SoundError `invalid_id`, `unsupported`, `blocked`, `sample_rate`, `script`: show a QR code instead
 * @example await announce(intent, { signal: stop.signal });
 */
export async function announce(
  intent: Announced,
  { signal, script, seconds = 60, volume = 50, onPlay }: AnnounceOptions = {},
): Promise<number> {
  const announced = { id: intent.id, livemode: intent.livemode };
  payloadOf(announced);
  if (!('AudioContext' in globalThis && 'Worker' in globalThis && 'WebAssembly' in globalThis))
    throw new SoundError('unsupported', 'This browser plays no sounds of a page.');
  const end = performance.now() + seconds * 1_000;
  const url = scriptUrl(script);
  const context = new AudioContext();
  const worker = new SoundWorker(url);
  const sounds = new Map<Pace, AudioBuffer>();
  const soundOf = async (pace: Pace): Promise<AudioBuffer> => {
    const known = sounds.get(pace) ?? (await encoded(worker, context, announced, pace, volume));
    sounds.set(pace, known);
    return known;
  };
  const stopped = (): boolean => signal?.aborted === true;
  let count = 0;
  try {
    await running(context);
    checkRate(context.sampleRate, 'The speaker');
    while (!stopped() && performance.now() < end) {
      const pace = count < FAST_PLAYS ? 'fast' : 'normal';
      const sound = await soundOf(pace);
      if (stopped()) break;
      count += 1;
      onPlay?.({ count, pace });
      await play(context, sound, signal);
      await pause(GAP_MS.min + Math.random() * (GAP_MS.max - GAP_MS.min), signal);
    }
    return count;
  } finally {
    worker.close();
    await context.close();
  }
}

async function encoded(
  worker: SoundWorker,
  context: AudioContext,
  announced: Announced,
  pace: Pace,
  volume: number,
): Promise<AudioBuffer> {
  const { sampleRate } = context;
  const samples = await new Promise<Float32Array>((resolve, reject) =>
    worker.ask(
      { type: 'encode', announced, pace, volume, sampleRate },
      (message) => message.type === 'encoded' && resolve(message.samples),
      reject,
    ),
  );
  const buffer = context.createBuffer(1, samples.length, sampleRate);
  buffer.getChannelData(0).set(samples);
  return buffer;
}

/** @throws SoundError `blocked` */
export async function running(context: AudioContext): Promise<void> {
  // Where a click is missing, the promise stays pending.
  await Promise.race([context.resume(), pause(PATIENCE_MS)]);
  if (context.state !== 'running') throw new SoundError('blocked', 'The browser does not let this page use audio yet.');
}

/** Plays it to its end, or fades it out. */
async function play(context: AudioContext, buffer: AudioBuffer, signal: AbortSignal | undefined): Promise<void> {
  const source = new AudioBufferSourceNode(context, { buffer });
  const gain = new GainNode(context);
  source.connect(gain).connect(context.destination);
  const ended = new Promise<void>((resolve) => (source.onended = () => resolve()));
  source.start();
  // A context that is interrupted, as by a call, does not end its sources.
  await Promise.race([ended, pause(buffer.duration * 1_000 + PATIENCE_MS, signal)]);
  if (signal?.aborted === true) {
    // A sound that breaks off clicks.
    gain.gain.setTargetAtTime(0, context.currentTime, 0.01);
    await pause(50);
  }
  source.disconnect();
  gain.disconnect();
}
