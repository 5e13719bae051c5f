import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceName } from '@pf/testing';
import type { Rig } from './rig.ts';

/** A number from 0 to 1. */
type Random = () => number;

export interface Fault {
  readonly name: string;
  /** Does it, and undoes it. Resolves when everything runs again. */
  readonly strike: (rig: Rig, random: Random) => Promise<void>;
}

const pick = <T>(of: readonly T[], random: Random): T | undefined => of[Math.floor(random() * of.length)];
const between = (from: number, to: number, random: Random): number => from + random() * (to - from);

/** KeptServices starts another one. */
const killService = (service: ServiceName): Fault => ({
  name: `kill -9 ${service}`,
  async strike({ services }, random) {
    const victim = pick(services.of(service), random);
    victim?.kill('SIGKILL');
    await victim?.exited;
  },
});

/** Longer than the session of a consumer (3 s here): it goes on fenced, when another has taken its place. */
const pauseService = (service: ServiceName): Fault => ({
  name: `pause ${service}`,
  async strike({ services }, random) {
    const victim = pick(services.of(service), random);
    victim?.kill('SIGSTOP');
    await delay(between(1_000, 6_000, random));
    victim?.kill('SIGCONT');
  },
});

const kafka: readonly Fault[] = [
  {
    name: 'kill -9 broker',
    async strike({ brokers }, random) {
      const victim = pick(brokers?.nodes ?? [], random);
      await victim?.kill();
      // Of three, sometimes away until the others have taken over.
      if (brokers && brokers.nodes.length > 1) await delay(between(0, 6_000, random));
      await victim?.start();
    },
  },
  {
    name: 'pause broker',
    async strike({ brokers }, random) {
      const victim = pick(brokers?.nodes ?? [], random);
      victim?.suspend();
      await delay(between(1_000, 6_000, random));
      victim?.resume();
    },
  },
];

const redis: readonly Fault[] = [
  {
    name: 'kill -9 Redis',
    async strike({ redis: own }, random) {
      await own?.process.kill();
      await delay(between(0, 2_000, random));
      await own?.process.start();
    },
  },
  {
    name: 'Redis hangs',
    async strike({ redis: own }, random) {
      own?.way.freeze();
      await delay(between(500, 4_000, random));
      await own?.way.restore();
    },
  },
];

const postgres: readonly Fault[] = [
  {
    name: 'kill -9 Postgres',
    async strike({ postgres: { primary } }, random) {
      await primary.kill();
      await delay(between(0, 1_000, random));
      await primary.start();
    },
  },
  {
    name: 'pause Postgres',
    async strike({ postgres: { primary } }, random) {
      primary.suspend();
      await delay(between(500, 5_000, random));
      primary.resume();
    },
  },
  {
    name: 'Postgres is cut off',
    async strike({ postgres: { way } }, random) {
      if (random() < 0.5) await way.cut();
      else way.freeze();
      await delay(between(200, 4_000, random));
      await way.restore();
    },
  },
];

/** The standby has everything that it was sent. */
export const promotion: Fault = {
  name: 'promote the standby',
  async strike({ postgres: own }) {
    await own.addStandby();
    await own.failOver();
  },
};
/** The standby is a moment behind: what was written since is missing after the promotion. */
export const laggingPromotion: Fault = {
  name: 'promote a standby that lags',
  async strike({ postgres: own }, random) {
    await own.addStandby();
    own.holdBack();
    await delay(between(200, 2_000, random));
    await own.failOver();
  },
};

const services: readonly ServiceName[] = ['gateway', 'intent', 'watcher', 'webhook', 'archive'];

/** Every fault; those of the brokers and Redis need a rig with its own. */
export const FAULTS: readonly Fault[] = [
  ...services.map(killService),
  ...services.map(pauseService),
  ...kafka,
  ...redis,
  ...postgres,
  promotion,
  laggingPromotion,
];
