import { type Heard, Tally } from './heard.ts';
import { Modem, type Pace } from './modem.ts';
import type { Announced } from './payload.ts';
import { MODEM_RATE, resample } from './resampler.ts';
import { fromWav, type Recording, toWav } from './wav.ts';

export { SoundError, type SoundErrorCode } from './errors.ts';
export type { Announced, Heard, Pace, Recording };
export { fromWav, toWav };

export interface EncodeOptions {
  /** Default `fast`. */
  readonly pace?: Pace;
  /** In Hz, default 48,000. */
  readonly sampleRate?: number;
  /** 1 to 100, in percent of full scale. Default 50. */
  readonly volume?: number;
}

/** One for the process: each takes 16 MB. */
let loading: Promise<Modem> | null = null;
const modem = (): Promise<Modem> => (loading ??= Modem.load());

/**
 * The sound that says the id of an intent.
 * @throws SoundError `invalid_id`, `sample_rate`
 * @example await writeFile('intent.wav', toWav(await encode(intent)));
 */
export async function encode(
  intent: Announced,
  { pace = 'fast', sampleRate = MODEM_RATE, volume = 50 }: EncodeOptions = {},
): Promise<Recording> {
  const samples = (await modem()).modulate(intent, pace, volume);
  return { samples: resample(samples, MODEM_RATE, sampleRate), sampleRate };
}

/**
 * The intents whose ids are said in a recording, in the order of their first time, with how often each was heard.
 * @throws SoundError `sample_rate`
 * @example const [heard] = await decode(fromWav(await readFile('intent.wav')));
 */
export async function decode({ samples, sampleRate }: Recording): Promise<readonly Heard[]> {
  const receiver = (await modem()).receiver(sampleRate);
  try {
    const tally = new Tally();
    for (const announced of receiver.push(padded(samples, sampleRate))) tally.count(announced);
    return tally.all();
  } finally {
    receiver.close();
  }
}

/** A sound is known when its end has passed, which may be the end of the recording. */
function padded(samples: Float32Array, sampleRate: number): Float32Array {
  const longer = new Float32Array(samples.length + Math.ceil(sampleRate / 2));
  longer.set(samples);
  return longer;
}
