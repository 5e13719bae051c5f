import { real } from './globals.ts';
import { Network } from './network.ts';
import { type Cancelable, type Clock, contexts, currentProcess, type Scheduler, SimulatedProcess } from './process.ts';
import { type Entry, TimeQueue } from './queue.ts';
import { Random } from './random.ts';
import { Trace, type TraceLine } from './trace.ts';

/** 2026-01-01, when every run begins. */
const EPOCH = Date.UTC(2026, 0, 1);
/** Messages of the same moment come before or after timers, as the seed decides; timers stay in their order. */
const TIMER_TIE = 2 ** 31;
/** How many entries run before the event loop gets a turn. */
const TURN = 4_096;
/** A client notices a refused or reset connection within this time, in milliseconds. */
const RESET_MS = [0.2, 5] as const;
/** How long a client waits for a reply that does not come, unless the call says otherwise. */
const PATIENCE_MS = [100, 3_000] as const;

interface KernelEntry extends Entry, Cancelable {
  /** The context it runs in, unless that was killed. Null: the simulation itself. */
  readonly process: SimulatedProcess | null;
  readonly run: () => void;
}

interface Server {
  /** Null while it is down. */
  process: SimulatedProcess | null;
  /** Calls whose reply is still to come. They fail when the server goes down. */
  readonly pending: Set<() => void>;
}

export interface CallOptions {
  /** What is asked, for the trace. */
  readonly what?: string | (() => string);
  /** How long the client waits for the reply. Default: the seed decides. */
  readonly timeoutMs?: number;
  /** Rejects the call with its reason; the server may serve it all the same. */
  readonly signal?: AbortSignal;
}

/**
 * One simulation: virtual time, the processes and servers in it, and the network between them. Whatever happens is an
 * entry of one queue, in an order that the seed alone decides.
 */
export class Kernel implements Scheduler {
  readonly seed: number;
  readonly random: Random;
  readonly network: Network;
  readonly #ties: Random;
  readonly #queue = new TimeQueue<KernelEntry>();
  readonly #trace: Trace;
  readonly #processes = new Map<string, SimulatedProcess>();
  readonly #incarnations = new Map<string, number>();
  readonly #servers = new Map<string, Server>();
  /** When a request of a process last failed, by its name. */
  readonly #failedAt = new Map<string, number>();
  readonly #asleep = new Map<SimulatedProcess, KernelEntry[]>();
  #now = EPOCH;
  #order = 0;
  #ran = 0;
  #failure: { readonly error: unknown } | null = null;

  /** @param keptLines lines of the trace that are kept; default: none, which is fastest */
  constructor(seed: number, { keptLines = 0 } = {}) {
    this.seed = seed;
    this.random = new Random(seed, 'simulation');
    this.#ties = new Random(seed, 'ties');
    this.network = new Network(new Random(seed, 'network'));
    this.#trace = new Trace(keptLines);
  }

  /** True virtual time in milliseconds since 1970. Processes may see another: Date.now() is theirs. */
  now(): number {
    return this.#now;
  }

  /** How many entries have run. */
  get ran(): number {
    return this.#ran;
  }

  // -- processes ----------------------------------------------------------------------------------------------------

  /** Starts a process. Its former incarnation must have been killed. `main` runs at once; an error fails the run. */
  spawn(name: string, main: () => unknown, clock: Partial<Clock> = {}): SimulatedProcess {
    if (this.#processes.get(name)?.alive) throw new Error(`The process ${name} runs already: kill it first.`);
    const process = this.#newProcess(name, clock);
    this.#processes.set(name, process);
    this.note(name, `starts (${process.incarnation})`);
    this.#add(process, 0, TIMER_TIE, () => {
      Promise.resolve()
        .then(main)
        .catch((error: unknown) => this.fail(error));
    });
    return process;
  }

  process(name: string): SimulatedProcess | undefined {
    return this.#processes.get(name);
  }

  /** SIGKILL: nothing of it happens any more. Requests that it has sent are still served. */
  kill(process: SimulatedProcess): void {
    if (!process.alive) return;
    process.alive = false;
    this.#asleep.delete(process);
    this.note(process.name, 'is killed');
    if (this.#servers.get(process.name)?.process === process) this.shutDown(process.name);
  }

  /** SIGSTOP: whatever would happen in it waits. */
  stop(process: SimulatedProcess): void {
    if (!process.alive || process.stopped) return;
    process.stopped = true;
    this.#asleep.set(process, []);
    this.note(process.name, 'is stopped');
  }

  /** SIGCONT: it goes on with what it believed when it was stopped. */
  continue(process: SimulatedProcess): void {
    if (!process.stopped) return;
    process.stopped = false;
    this.note(process.name, 'continues');
    for (const { run, tie } of this.#asleep.get(process) ?? []) this.#add(process, 0, tie, run);
    this.#asleep.delete(process);
  }

  /** Runs `work` in the context of the process, now. */
  within<Result>(process: SimulatedProcess, work: () => Result): Result {
    return contexts.run(process, work);
  }

  // -- time ---------------------------------------------------------------------------------------------------------

  after(process: SimulatedProcess, ms: number, work: () => void): Cancelable {
    return this.#add(process, ms, TIMER_TIE, work);
  }

  /** Runs `work` outside of every process after `ms` of true time: for faults, workload and checks. */
  schedule(ms: number, work: () => void): Cancelable {
    return this.#add(null, ms, TIMER_TIE, work);
  }

  /** Resolves after `ms` of true time, in the current process. */
  sleep(ms: number): Promise<void> {
    const process = contexts.getStore() ?? null;
    return new Promise((resolve) => this.#add(process, ms, TIMER_TIE, resolve));
  }

  /** True for a process of which a request has failed within the last `ms`: it is about to repeat something. */
  isInTrouble(name: string, ms: number): boolean {
    return this.#now - (this.#failedAt.get(name) ?? -Infinity) <= ms;
  }

  // -- servers ------------------------------------------------------------------------------------------------------

  /** True while the server runs. A server that was never stopped runs. */
  isUp(server: string): boolean {
    return this.#server(server).process !== null;
  }

  /** Lets other processes call this one, under its name and until it is killed. */
  serve(process: SimulatedProcess): void {
    const server = this.#servers.get(process.name);
    if (server) server.process = process;
    else this.#servers.set(process.name, { process, pending: new Set() });
  }

  /** Stops a server: open calls fail, further ones are refused. What it forgets by that is up to its simulation. */
  shutDown(name: string): void {
    const server = this.#server(name);
    if (server.process === null) return;
    server.process.alive = false;
    server.process = null;
    this.note(name, 'goes down');
    for (const fail of server.pending) fail();
    server.pending.clear();
  }

  startUp(name: string): void {
    const server = this.#server(name);
    if (server.process !== null) return;
    server.process = this.#newProcess(name, {});
    this.note(name, 'is up');
  }

  /**
   * Calls a server from the current process. `serve` runs when the request arrives, at once and atomically up to its
   * first await, in the server's context: Date.now() is true time there. Request and reply may be delayed, lost or cut.
   * What `serve` throws or rejects with is the reply.
   *
   * @param failure makes the error of a client that got no reply: the request may have been served or not
   */
  call<Result>(
    name: string,
    serve: () => Result | Promise<Result>,
    failure: () => Error,
    options: CallOptions = {},
  ): Promise<Result> {
    const client = currentProcess(`A call of ${name}`);
    const server = this.#server(name);
    const { network } = this;
    const what = this.#trace.keeps ? textOf(options.what) : '';
    const { signal } = options;
    if (signal?.aborted) return Promise.reject(asError(signal.reason));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let settled = false;
    const settle = (work: () => void): void => {
      if (settled) return;
      settled = true;
      server.pending.delete(reset);
      signal?.removeEventListener('abort', aborted);
      work();
    };
    const fail = (ms: number, why: string): void => {
      server.pending.delete(reset);
      this.#add(client, ms, this.#ties.bits(), () =>
        settle(() => {
          this.#failedAt.set(client.name, this.#now);
          this.note(client.name, `← ${name}: ${what} ${why}`);
          reject(failure());
        }),
      );
    };
    const [soonest, latest] = RESET_MS;
    const reset = (): void => fail(this.#ties.between(soonest, latest), 'failed: the connection was reset');
    const aborted = (): void => settle(() => reject(asError(signal?.reason)));
    const patience = options.timeoutMs ?? this.#ties.between(...PATIENCE_MS);
    signal?.addEventListener('abort', aborted, { once: true });
    server.pending.add(reset);
    if (this.#trace.keeps) this.note(client.name, `→ ${name}: ${what}`);
    const reply = (text: string, deliver: () => void): void => {
      if (!server.pending.has(reset)) return;
      if (network.losesReply(name, client.name)) return fail(patience, 'failed: the reply was lost');
      this.#add(client, network.delay(), this.#ties.bits(), () =>
        settle(() => {
          if (this.#trace.keeps) this.note(client.name, `← ${name}: ${what} ${text}`);
          deliver();
        }),
      );
    };
    const refuse = (error: unknown): void =>
      reply(`: ${messageOf(error)}`, () => {
        this.#failedAt.set(client.name, this.#now);
        reject(asError(error));
      });
    const arrive = (): void => {
      const running = server.process;
      if (running === null) return fail(network.delay(), 'failed: the connection was refused');
      const served = (): void => {
        try {
          const result = serve();
          if (result instanceof Promise)
            result.then(
              (value) => reply('', () => resolve(value)),
              (error: unknown) => refuse(error),
            );
          else reply('', () => resolve(result));
        } catch (error) {
          refuse(error);
        }
      };
      const asleep = running.stopped ? this.#asleep.get(running) : undefined;
      if (asleep) asleep.push(this.#entry(running, 0, TIMER_TIE, served));
      else contexts.run(running, served);
    };
    if (network.losesRequest(client.name, name)) fail(patience, 'failed: the request was lost');
    else this.#add(null, network.delay(), this.#ties.bits(), arrive);
    return promise;
  }

  /** Sends a message to a process that nothing answers: lost with the process, or by the network. */
  send(from: string, to: SimulatedProcess, deliver: () => void): void {
    if (this.network.losesReply(from, to.name)) return;
    this.#add(to, this.network.delay(), this.#ties.bits(), deliver);
  }

  // -- the run ------------------------------------------------------------------------------------------------------

  /** Notes what the current process does. */
  trace(text: string): void {
    if (this.#trace.keeps) this.note(contexts.getStore()?.name ?? '', text);
  }

  /** Notes what happened to or in `where`. */
  note(where: string, text: string): void {
    this.#trace.add({ at: this.#now, where, text });
  }

  /** True if notes are kept: making long texts can be left otherwise. */
  get tracing(): boolean {
    return this.#trace.keeps;
  }

  lines(): readonly TraceLine[] {
    return this.#trace.lines();
  }

  /** Equal for two runs in which the same happened at the same times. */
  fingerprint(): string {
    return this.#trace.fingerprint();
  }

  /** Ends the run with this error, after the entry that is running. The first error counts. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  /**
   * Runs entries until `done` says so, `until` is reached or nothing is left to happen. The globals must be patched.
   * @throws what failed the run
   */
  run({ until = Infinity, done = () => false }: { until?: number; done?: () => boolean }): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = (): void => {
        if (this.#failure) return reject(asError(this.#failure.error));
        if (done()) return resolve();
        const entry = this.#queue.pop();
        if (entry === undefined) return resolve();
        if (entry.at > until) {
          this.#queue.push(entry);
          this.#now = until;
          return resolve();
        }
        this.#perform(entry);
        // Behind every microtask that the entry has led to. The event loop gets a turn now and then, for signals and
        // for rejections without a handler.
        if (this.#ran % TURN === 0) real.setImmediate(step);
        else queueMicrotask(tick);
      };
      const tick = (): void => real.nextTick(step);
      step();
    });
  }

  #perform(entry: KernelEntry): void {
    this.#now = entry.at;
    const { process } = entry;
    if (entry.canceled || process?.alive === false) return;
    if (process?.stopped) {
      this.#asleep.get(process)?.push(entry);
      return;
    }
    this.#ran++;
    this.#trace.mix(entry.at * 1_000 - EPOCH * 1_000);
    this.#trace.mix(entry.order);
    try {
      if (process === null) entry.run();
      else contexts.run(process, entry.run);
    } catch (error) {
      this.fail(error);
    }
  }

  #add(process: SimulatedProcess | null, ms: number, tie: number, run: () => void): KernelEntry {
    const entry = this.#entry(process, ms, tie, run);
    this.#queue.push(entry);
    return entry;
  }

  #entry(process: SimulatedProcess | null, ms: number, tie: number, run: () => void): KernelEntry {
    return { at: this.#now + ms, tie, order: this.#order++, process, run, canceled: false };
  }

  #newProcess(name: string, clock: Partial<Clock>): SimulatedProcess {
    const incarnation = (this.#incarnations.get(name) ?? 0) + 1;
    this.#incarnations.set(name, incarnation);
    return new SimulatedProcess(name, incarnation, {
      scheduler: this,
      random: new Random(this.seed, `${name}#${incarnation}`),
      clock: { skewMs: 0, drift: 0, ...clock },
    });
  }

  #server(name: string): Server {
    const known = this.#servers.get(name);
    if (known) return known;
    const server: Server = { process: this.#newProcess(name, {}), pending: new Set() };
    this.#servers.set(name, server);
    return server;
  }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
const messageOf = (error: unknown): string => asError(error).message;
const textOf = (what: CallOptions['what']): string => (typeof what === 'function' ? what() : (what ?? 'call'));
