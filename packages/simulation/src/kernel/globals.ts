import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { type Cancelable, currentProcess } from './process.ts';

/** What a run of the kernel itself goes on with, while the globals are patched. */
export const real = {
  setImmediate: globalThis.setImmediate,
  nextTick: process.nextTick.bind(process),
  Date: globalThis.Date,
};

type Callback = (...values: unknown[]) => void;

/** What setTimeout, setInterval and setImmediate return. */
class SimulatedTimer {
  readonly #run: () => void;
  readonly #ms: number;
  readonly #repeats: boolean;
  #entry: Cancelable | null = null;

  constructor(used: string, run: () => void, ms: number, repeats: boolean) {
    this.#run = run;
    this.#ms = ms;
    this.#repeats = repeats;
    this.#schedule(used);
  }

  #schedule(used: string): void {
    const process = currentProcess(used);
    this.#entry = process.scheduler.after(process, this.#ms / (1 + process.clock.drift), () => {
      this.#entry = null;
      this.#run();
      // The callback may have cleared it.
      if (this.#repeats && !this.cleared) this.#schedule(used);
    });
  }

  cleared = false;

  clear(): void {
    this.cleared = true;
    if (this.#entry) this.#entry.canceled = true;
  }

  refresh(): this {
    if (this.#entry) this.#entry.canceled = true;
    if (!this.cleared) this.#schedule('refresh()');
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }

  close(): this {
    this.clear();
    return this;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

/** Node's own bounds: anything else counts as 1 ms. */
const duration = (ms: unknown): number => {
  const number = Number(ms);
  return number >= 1 && number <= 2 ** 31 - 1 ? number : 1;
};
const timer =
  (used: string, repeats: boolean) =>
  (callback: Callback, ms?: unknown, ...values: unknown[]): SimulatedTimer =>
    new SimulatedTimer(used, () => callback(...values), duration(ms), repeats);
const clear = (given: unknown): void => {
  if (given instanceof SimulatedTimer) given.clear();
};
const setTimeout = timer('setTimeout', false);
const setInterval = timer('setInterval', true);
/** A turn of the event loop takes time, so that a loop of them does not stand still. */
const IMMEDIATE_MS = 0.01;
const setImmediate = (callback: Callback, ...values: unknown[]): SimulatedTimer =>
  new SimulatedTimer('setImmediate', () => callback(...values), IMMEDIATE_MS, false);

/** The functions of node:timers/promises. */
const promised =
  (start: (done: () => void, ms: unknown) => SimulatedTimer) =>
  (ms: unknown, value: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const aborted = (): void => {
        waiting.clear();
        reject(new DOMException('The operation was aborted', { name: 'AbortError', cause: signal?.reason }));
      };
      const waiting = start(() => {
        signal?.removeEventListener('abort', aborted);
        resolve(value);
      }, ms);
      if (signal?.aborted) return aborted();
      signal?.addEventListener('abort', aborted, { once: true });
    });

function SimulatedDate(this: unknown, ...values: unknown[]): unknown {
  if (!new.target) return new real.Date(dateNow()).toString();
  return Reflect.construct(
    real.Date,
    values.length > 0 ? values : [dateNow()],
    new.target === SimulatedDate ? real.Date : new.target,
  );
}
const dateNow = (): number => currentProcess('Date').wallClock();
Object.defineProperties(SimulatedDate, {
  prototype: { value: real.Date.prototype },
  now: { value: dateNow },
  parse: { value: real.Date.parse },
  UTC: { value: real.Date.UTC },
});

function fillRandomly<Bytes extends ArrayBufferView>(bytes: Bytes): Bytes {
  new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).set(
    currentProcess('getRandomValues').random.bytes(bytes.byteLength),
  );
  return bytes;
}

function randomInt(...bounds: number[]): number {
  const [min, max] = bounds.length > 1 ? bounds : [0, bounds[0]];
  if (min === undefined || max === undefined) throw new RangeError('randomInt needs a bound.');
  return min + currentProcess('randomInt').random.int(max - min);
}

const randomUUID = (): string => currentProcess('randomUUID').random.uuid();
const randomBytes = (length: number): Buffer => Buffer.from(currentProcess('randomBytes').random.bytes(length));

function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms);
  return controller.signal;
}

/** Every source of time and randomness, by the object that has it. */
const replacements: readonly (readonly [target: object, functions: Readonly<Record<string, unknown>>])[] = [
  [
    globalThis,
    {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
      Date: SimulatedDate,
    },
  ],
  [timers, { setTimeout, setInterval, setImmediate, clearTimeout: clear, clearInterval: clear, clearImmediate: clear }],
  [
    timersPromises,
    {
      setTimeout: promised(setTimeout),
      setImmediate: (value: unknown, options?: { signal?: AbortSignal }) =>
        promised((done) => setImmediate(done))(0, value, options),
    },
  ],
  [globalThis.performance, { now: () => currentProcess('performance.now').monotonicClock() }],
  [Math, { random: () => currentProcess('Math.random').random.fraction() }],
  [AbortSignal, { timeout: timeoutSignal }],
  [crypto, { randomUUID, randomBytes, randomInt }],
  [globalThis.crypto, { randomUUID, getRandomValues: fillRandomly }],
];

/**
 * Puts virtual time and seeded randomness in the place of the globals, also for modules that imported node:crypto and
 * node:timers before. Used outside of a simulated process they throw. Disposing of the result puts them back.
 */
export function patchGlobals(): Disposable {
  const undo: (() => void)[] = [];
  for (const [target, functions] of replacements)
    for (const [name, value] of Object.entries(functions)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
      undo.push(() => {
        if (before) Object.defineProperty(target, name, before);
        else Reflect.deleteProperty(target, name);
      });
    }
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]() {
      for (const step of undo.reverse()) step();
      syncBuiltinESMExports();
    },
  };
}
