// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- whoever compiles this needs these types
/// <reference path="./ggwave.d.ts" />
import factory, { type Ggwave, type Protocol } from 'ggwave';
import { type Announced, PAYLOAD_BYTES, parsePayload, payloadOf } from './payload.ts';
import { MODEM_RATE, Resampler } from './resampler.ts';

/** How fast a sound is: `fast` takes 1.8 seconds, `normal` 2.4 and gets through more reverberation. */
export type Pace = 'fast' | 'normal';
const PROTOCOLS = { fast: 'GGWAVE_PROTOCOL_ULTRASOUND_FAST', normal: 'GGWAVE_PROTOCOL_ULTRASOUND_NORMAL' } as const;

/** Samples a call. The library hears nothing in smaller pieces. */
const FRAME = 1_024;
/**
 * Frames after which an ear starts again: six seconds. After a start without an end, as when a sender stops in the
 * middle, ggwave records for twelve seconds and hears nothing else. Two ears take turns, so that one is always open for
 * as long as a sound takes.
 */
const EAR_FRAMES = Math.ceil((6 * MODEM_RATE) / FRAME);
/** Both ears hear the same sound, half a frame apart. No sound is shorter than this. */
const ECHO_SAMPLES = 1.2 * MODEM_RATE;

/** Turns the ids of intents into sound and back, by ggwave. */
export class Modem {
  readonly #ggwave: Ggwave;
  #receiving = false;

  private constructor(ggwave: Ggwave) {
    this.#ggwave = ggwave;
  }

  static async load(): Promise<Modem> {
    const ggwave = await withoutHandlers(() => factory({ print: () => undefined, printErr: () => undefined }));
    const used: readonly string[] = Object.values(PROTOCOLS);
    for (const [name, protocol] of Object.entries(ggwave.ProtocolId))
      if (name.startsWith('GGWAVE_PROTOCOL_')) ggwave.rxToggleProtocol(protocol, used.includes(name) ? 1 : 0);
    return new Modem(ggwave);
  }

  /**
   * @param volume 1 to 100, in percent of full scale
   * @returns samples at `MODEM_RATE`
   * @throws SoundError `invalid_id`
   */
  modulate(announced: Announced, pace: Pace, volume: number): Float32Array {
    const payload = payloadOf(announced);
    const instance = this.#init(this.#ggwave.GGWAVE_OPERATING_MODE_TX);
    try {
      const bytes = this.#ggwave.encode(instance, payload, this.#protocol(pace), volume);
      return new Float32Array(bytes.slice().buffer);
    } finally {
      this.#ggwave.free(instance);
    }
  }

  /**
   * One at a time: the library has room for four instances, of which a receiver takes two and `modulate` one.
   * @throws SoundError `sample_rate`
   */
  receiver(sampleRate: number): Receiver {
    if (this.#receiving) throw new Error('A receiver of this modem is open.');
    const resampler = sampleRate === MODEM_RATE ? null : new Resampler(sampleRate, MODEM_RATE);
    const open = (): number => this.#init(this.#ggwave.GGWAVE_OPERATING_MODE_RX);
    const ears = [new Ear(this.#ggwave, open, 0, 0), new Ear(this.#ggwave, open, FRAME / 2, EAR_FRAMES / 2)];
    const last = new Map<string, number>();
    this.#receiving = true;
    let closed = false;
    return {
      push: (input) => {
        if (closed) return [];
        const samples = resampler === null ? input : resampler.push(input);
        const heard: Announced[] = [];
        for (const { announced, at } of ears.flatMap((ear) => ear.push(samples)).sort((a, b) => a.at - b.at)) {
          const key = `${String(announced.livemode)} ${announced.id}`;
          if (at - (last.get(key) ?? -Infinity) >= ECHO_SAMPLES) heard.push(announced);
          last.set(key, at);
        }
        const [ear] = ears;
        for (const [key, at] of last) if (ear !== undefined && ear.position - at > ECHO_SAMPLES) last.delete(key);
        return heard;
      },
      close: () => {
        if (closed) return;
        closed = true;
        for (const ear of ears) ear.close();
        this.#receiving = false;
      },
    };
  }

  #init(operatingMode: number): number {
    const parameters = {
      ...this.#ggwave.getDefaultParameters(),
      sampleRateInp: MODEM_RATE,
      sampleRateOut: MODEM_RATE,
      sampleRate: MODEM_RATE,
      operatingMode,
    };
    const instance = this.#ggwave.init(parameters);
    if (instance < 0) throw new Error('ggwave has no instance left.');
    return instance;
  }

  #protocol(pace: Pace): Protocol {
    const protocol = this.#ggwave.ProtocolId[PROTOCOLS[pace]];
    if (protocol === undefined) throw new Error(`ggwave has no protocol ${PROTOCOLS[pace]}`);
    return protocol;
  }
}

/** Hears intents in a stream of samples. Belongs to one source, and must be closed. */
export interface Receiver {
  /** @returns what has been said completely, each time that it was */
  push(samples: Float32Array): readonly Announced[];
  close(): void;
}

/** An instance of the library that listens, replaced every few seconds. */
class Ear {
  readonly #ggwave: Ggwave;
  readonly #open: () => number;
  #instance: number;
  /** What is left of the samples so far: less than a frame. */
  #rest: Float32Array;
  #frames: number;
  /** Samples that were heard. */
  position = 0;

  /**
   * @param delay samples of silence before the first
   * @param frames of the first instance's life that count as over
   */
  constructor(ggwave: Ggwave, open: () => number, delay: number, frames: number) {
    this.#ggwave = ggwave;
    this.#open = open;
    this.#instance = open();
    this.#rest = new Float32Array(delay);
    this.#frames = frames;
  }

  push(input: Float32Array): readonly { readonly announced: Announced; readonly at: number }[] {
    const samples = new Float32Array(this.#rest.length + input.length);
    samples.set(this.#rest);
    samples.set(input, this.#rest.length);
    const heard = [];
    let begin = 0;
    for (; begin + FRAME <= samples.length; begin += FRAME) {
      const frame = new Uint8Array(samples.slice(begin, begin + FRAME).buffer);
      const payload = this.#ggwave.decode(this.#instance, frame);
      const announced = payload.length === PAYLOAD_BYTES ? parsePayload(new Uint8Array(payload)) : null;
      this.position += FRAME;
      if (announced !== null) heard.push({ announced, at: this.position });
      this.#frames += 1;
      if (this.#frames >= EAR_FRAMES) this.#renew();
    }
    this.#rest = samples.slice(begin);
    return heard;
  }

  #renew(): void {
    this.close();
    this.#instance = this.#open();
    this.#frames = 0;
  }

  close(): void {
    this.#ggwave.free(this.#instance);
  }
}

/** What Node's `process` has and other environments do not. */
interface Process {
  listeners(event: string): readonly (() => void)[];
  removeListener(event: string, listener: () => void): void;
}

/** In Node, ggwave takes over the process's errors when it is loaded: whatever throws later would end the program. */
async function withoutHandlers<T>(load: () => Promise<T>): Promise<T> {
  const { process } = globalThis as { readonly process?: Process };
  if (process === undefined || !('listeners' in process)) return await load();
  const events = ['uncaughtException', 'unhandledRejection'];
  const before = new Set(events.flatMap((event) => process.listeners(event)));
  const loading = load();
  for (const event of events)
    for (const listener of process.listeners(event)) if (!before.has(listener)) process.removeListener(event, listener);
  return await loading;
}
