// The one script beside a page: as a Worker it makes and hears sounds, as an AudioWorklet it passes on what the
// microphone hears. ggwave compiles functions at run time, which only this script's own Content-Security-Policy allows.
import { Modem } from './modem.ts';
import type { FromWorker, Samples, ToWorker } from './messages.ts';
import { MODEM_RATE, resample } from './resampler.ts';

/** What a Worker and an AudioWorklet have, of which TypeScript's library for pages knows nothing. */
interface WorkerScope {
  readonly registerProcessor?: (name: string, processor: unknown) => void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker, transfer: readonly Transferable[]): void;
}
declare const AudioWorkletProcessor: new () => { readonly port: MessagePort };

const here = globalThis as unknown as WorkerScope;
if (here.registerProcessor === undefined) work();
else forward(here.registerProcessor);

/** In the Worker. */
function work(): void {
  const loading = Modem.load();
  const post = (message: FromWorker, transfer: readonly Transferable[] = []): void =>
    here.postMessage(message, transfer);
  here.onmessage = ({ data }) => {
    answer(data, post).catch((error: unknown) =>
      post({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  };
  // What cannot be loaded is said when it is asked for.
  loading.catch(() => undefined);

  async function answer(message: ToWorker, post: (message: FromWorker, transfer?: Transferable[]) => void) {
    const modem = await loading;
    if (message.type === 'encode') {
      const { announced, pace, volume, sampleRate } = message;
      const samples = resample(modem.modulate(announced, pace, volume), MODEM_RATE, sampleRate).slice();
      post({ type: 'encoded', samples }, [samples.buffer]);
      return;
    }
    const receiver = modem.receiver(message.sampleRate);
    message.port.onmessage = ({ data }: MessageEvent<Samples>) => {
      const heard = receiver.push(data);
      post({ type: 'heard', heard, silent: data.every((sample) => sample === 0) });
    };
    post({ type: 'listening' });
  }
}

/** In the AudioWorklet: collects pieces of 128 samples, so that fewer messages are sent. */
function forward(registerProcessor: (name: string, processor: unknown) => void): void {
  const PIECE = 4_096;
  registerProcessor(
    'pf-sound',
    class extends AudioWorkletProcessor {
      #worker: MessagePort | null = null;
      #samples = new Float32Array(PIECE);
      #count = 0;

      constructor() {
        super();
        this.port.onmessage = ({ ports }) => (this.#worker = ports[0] ?? null);
      }

      process([input]: readonly (readonly Float32Array[])[]): boolean {
        const [channel] = input ?? [];
        if (channel === undefined || this.#worker === null) return true;
        this.#samples.set(channel, this.#count);
        this.#count += channel.length;
        if (this.#count + channel.length > PIECE) {
          const full = this.#samples.slice(0, this.#count);
          this.#worker.postMessage(full, [full.buffer]);
          this.#count = 0;
        }
        return true;
      }
    },
  );
}
