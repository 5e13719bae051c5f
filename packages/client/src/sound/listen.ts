import { running } from './announce.ts';
import { SoundError } from './errors.ts';
import { type Heard, Tally } from './heard.ts';
import type { FromWorker } from './messages.ts';
import { checkRate } from './resampler.ts';
import { type ScriptUrl, scriptUrl, SoundWorker } from './worker.ts';

export interface ListenOptions {
  /** Ends it and switches the microphone off. That is no error. */
  readonly signal?: AbortSignal;
  /** Where `@pf/client/sound/script.js` is served, of the page's own origin. */
  readonly script?: ScriptUrl;
}

/** Every kind of processing takes out what no voice has. */
const PROCESSING = ['echoCancellation', 'noiseSuppression', 'autoGainControl'] as const;
/** A microphone that is switched off elsewhere delivers zeros; one that listens, noise. */
const SILENT_MS = 5_000;
/** Ids that the caller has not taken yet. */
const MAX_WAITING = 100;

/**
 * Listens for intents that are announced nearby, and yields each id every time that it is heard, with how often it was.
 * Any device near can announce any id: show the merchant and the amount that the service returns for it, and never
 * pay without a tap.
 * @throws SoundError `insecure_context`, `unsupported`, `ios`, `microphone_denied`, `microphone_missing`,
 * `microphone_ended`, `processing`, `sample_rate`, `silent`, `blocked`, `script`: show a QR code instead
 * @example for await (const { id, count } of listen({ signal })) show(id, count);
 */
export async function* listen({ signal, script }: ListenOptions = {}): AsyncGenerator<Heard, void, undefined> {
  checkBrowser();
  const stopped = (): boolean => signal?.aborted === true;
  if (stopped()) return;
  const stream = await microphone();
  const [track] = stream.getAudioTracks();
  let context: AudioContext | null = null;
  let worker: SoundWorker | null = null;
  const queue = new Queue<Heard>();
  const stop = (): void => queue.end();
  signal?.addEventListener('abort', stop);
  try {
    if (track === undefined) throw new SoundError('microphone_missing', 'There is no microphone.');
    checkTrack(track);
    track.onended = () => queue.fail(new SoundError('microphone_ended', 'The microphone was switched off.'));
    // The rate of the microphone where the browser tells it: Firefox connects no others.
    const { sampleRate } = track.getSettings();
    context = new AudioContext(sampleRate === undefined ? {} : { sampleRate });
    await running(context);
    checkRate(context.sampleRate, 'The microphone');
    const url = scriptUrl(script);
    await context.audioWorklet.addModule(url).catch((cause: unknown) => {
      throw new SoundError('script', `${url} could not be run.`, { cause });
    });
    worker = new SoundWorker(url);
    connect(context, stream, worker, queue);
    if (stopped()) return;
    yield* queue.values();
  } finally {
    signal?.removeEventListener('abort', stop);
    for (const one of stream.getTracks()) one.stop();
    worker?.close();
    await context?.close();
  }
}

function checkBrowser(): void {
  if ('isSecureContext' in globalThis && !isSecureContext)
    throw new SoundError('insecure_context', 'Browsers give the microphone to secure pages only.');
  if (!(
    'navigator' in globalThis &&
    'mediaDevices' in navigator &&
    'AudioWorkletNode' in globalThis &&
    'Worker' in globalThis &&
    'WebAssembly' in globalThis
  ))
    throw new SoundError('unsupported', 'This browser gives pages no microphone or no AudioWorklet.');
  // An iPad calls itself a Mac, but no Mac has a touch screen. All browsers there are Safari inside.
  if (/iPhone|iPad|iPod/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && navigator.maxTouchPoints > 1))
    throw new SoundError(
      'ios',
      "Browsers of iPhones and iPads process the microphone's audio so that nothing is heard.",
    );
}

async function microphone(): Promise<MediaStream> {
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 };
  try {
    return await navigator.mediaDevices.getUserMedia({ audio });
  } catch (cause) {
    const name = cause instanceof DOMException ? cause.name : '';
    if (name === 'NotAllowedError' || name === 'SecurityError')
      throw new SoundError('microphone_denied', 'The page may not use the microphone.', { cause });
    throw new SoundError('microphone_missing', `No microphone could be opened (${name}).`, { cause });
  }
}

/** @throws SoundError when the browser does otherwise than it was asked to */
function checkTrack(track: MediaStreamTrack): void {
  const settings = track.getSettings();
  const on = PROCESSING.filter((name) => {
    const value: unknown = settings[name];
    return value !== undefined && value !== false;
  });
  if (on.length > 0) throw new SoundError('processing', `${on.join(', ')} cannot be switched off.`);
  if (settings.sampleRate !== undefined) checkRate(settings.sampleRate, 'The microphone');
}

/** Microphone → AudioWorklet → Worker → queue. */
function connect(context: AudioContext, stream: MediaStream, worker: SoundWorker, queue: Queue<Heard>): void {
  const node = new AudioWorkletNode(context, 'pf-sound', { numberOfInputs: 1, channelCount: 1 });
  const { port1, port2 } = new MessageChannel();
  node.port.postMessage(null, [port1]);
  const tally = new Tally();
  let sounded = performance.now();
  const answer = (message: FromWorker): void => {
    if (message.type !== 'heard') return;
    for (const announced of message.heard) queue.push(tally.count(announced));
    if (!message.silent) sounded = performance.now();
    else if (performance.now() - sounded > SILENT_MS)
      queue.fail(new SoundError('silent', 'The microphone delivers nothing at all.'));
  };
  const { sampleRate } = context;
  worker.ask({ type: 'listen', sampleRate, port: port2 }, answer, (error) => queue.fail(error), [port2]);
  // A node that leads nowhere is not asked to work. What it puts out is silence.
  sourceOf(context, stream).connect(node).connect(context.destination);
}

/** @throws SoundError `sample_rate` where a browser does not convert between microphone and context */
function sourceOf(context: AudioContext, mediaStream: MediaStream): AudioNode {
  try {
    return new MediaStreamAudioSourceNode(context, { mediaStream });
  } catch (cause) {
    throw new SoundError('sample_rate', `The browser does not connect the microphone at ${context.sampleRate} Hz.`, {
      cause,
    });
  }
}

/** What is heard while the caller is busy. Of too much, the oldest is forgotten. */
class Queue<T> {
  readonly #waiting: T[] = [];
  #ended = false;
  #error: Error | null = null;
  #wake: () => void = () => undefined;

  push(value: T): void {
    this.#waiting.push(value);
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.end();
  }

  async *values(): AsyncGenerator<T, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#error !== null) throw this.#error;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
