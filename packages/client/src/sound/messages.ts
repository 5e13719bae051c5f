import type { Pace } from './modem.ts';
import type { Announced } from './payload.ts';

/** What a page asks the Worker. */
export type ToWorker =
  | {
      readonly type: 'encode';
      readonly announced: Announced;
      readonly pace: Pace;
      readonly volume: number;
      readonly sampleRate: number;
    }
  /** From `port` come the samples of a microphone. */
  | { readonly type: 'listen'; readonly sampleRate: number; readonly port: MessagePort };

export type Samples = Float32Array;

/** What the Worker answers. */
export type FromWorker =
  | { readonly type: 'encoded'; readonly samples: Samples }
  | { readonly type: 'listening' }
  /** After each piece of samples. `silent` when all of it was zero, which no microphone hears. */
  | { readonly type: 'heard'; readonly heard: readonly Announced[]; readonly silent: boolean }
  | { readonly type: 'failed'; readonly message: string };
