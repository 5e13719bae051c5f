import type { Clock, SimulatedProcess } from '@pf/simulation/kernel';
import type { WorldDependencies } from './world-dependencies.ts';

/** What a service's start gets, and may set. */
export interface Running {
  readonly process: SimulatedProcess;
  /** Ends the process, as an error that the service cannot go on after. */
  readonly crash: (error: Error) => void;
  /** Asked by the liveness probe. */
  live: () => boolean;
}

const PROBE_MS = 5_000;
/** How long the supervisor takes to start a process again. */
const RESTART_MS = [200, 2_000] as const;

/** A process of a service that a supervisor starts again whenever it ends. */
export class Service {
  readonly name: string;
  readonly clock: Clock = { skewMs: 0, drift: 0 };
  readonly #world: WorldDependencies;
  readonly #start: (running: Running) => Promise<void>;
  #running: Running | null = null;

  constructor(world: WorldDependencies, name: string, start: (running: Running) => Promise<void>) {
    this.#world = world;
    this.name = name;
    this.#start = start;
    world.kernel.schedule(PROBE_MS, () => this.#probe());
  }

  get process(): SimulatedProcess | null {
    return this.#running?.process ?? null;
  }

  boot(): void {
    const { kernel } = this.#world;
    if (this.#running?.process.alive) return;
    const process = kernel.spawn(
      this.name,
      async () => {
        try {
          await this.#start(running);
        } catch (error) {
          running.crash(error instanceof Error ? error : new Error(String(error)));
        }
      },
      this.clock,
    );
    const running: Running = {
      process,
      crash: (error) => {
        kernel.note(this.name, `crashes: ${error.name}: ${error.message}`);
        this.#end(process);
      },
      live: () => true,
    };
    this.#running = running;
  }

  /** SIGKILL; the supervisor starts it again. */
  kill(): void {
    if (this.#running) this.#end(this.#running.process);
  }

  stop(): void {
    if (this.#running) this.#world.kernel.stop(this.#running.process);
  }

  continue(): void {
    if (this.#running) this.#world.kernel.continue(this.#running.process);
  }

  /** Sets the machine's clock. */
  setClock(clock: Clock): void {
    Object.assign(this.clock, clock);
    if (this.#running) Object.assign(this.#running.process.clock, clock);
  }

  #end(process: SimulatedProcess): void {
    const { kernel } = this.#world;
    if (!process.alive) return;
    kernel.kill(process);
    const [soonest, latest] = RESTART_MS;
    kernel.schedule(this.#world.random.between(soonest, latest), () => this.boot());
  }

  /** The supervisor's liveness probe. A stopped process does not answer it, and is left alone. */
  #probe(): void {
    const { kernel } = this.#world;
    const running = this.#running;
    if (running?.process.alive && !running.process.stopped && !kernel.within(running.process, () => running.live())) {
      kernel.note(this.name, 'is not live');
      this.#end(running.process);
    }
    kernel.schedule(PROBE_MS, () => this.#probe());
  }
}
