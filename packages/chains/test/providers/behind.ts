import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RpcUnavailableError } from '@pf/rpc';
import { PROFILE_NAMES, type ProfileName, PROFILES, startProvider } from '@pf/testing/providers';
import type { ChainFamily } from '../../src/networks.ts';
import type { ChainAdapter, ChainObserver, Step } from '../../src/index.ts';
import { type ChainUnderTest, conformance, type Exemptions } from '../conformance/suite.ts';

/** A local chain that all profiles share. */
interface SharedChain {
  readonly rpcUrl: string;
  /**
   * The chain as the suite needs it, reached at this URL. Its `stop` leaves the chain as it was. `pass` lets so much
   * time pass for the watcher that everything it reads now and then is due.
   */
  at(url: string): Promise<ChainUnderTest & { readonly pass: () => unknown }>;
  stop(): Promise<void>;
}

/** A plan's calls a second are enough: at the provider so much time passes from one request to the next. */
const PACE_MS = 1_000;
/** The attempts of a caller that does not give up: a client after 503, or the watcher. */
const ATTEMPTS = 20;
/** Limits that take longer than a test: the pauses that a provider asks for. */
const LIMITS: Partial<Record<ProfileName, Readonly<Record<string, number>>>> = {
  infura: { backOffSeconds: 0 },
};
/** Behind these the watcher sees a thing only after some looks: at most so many where the suite looks once. */
const LOOKS: Partial<Record<ProfileName, number>> = {
  quicknode: 4,
  'base-pool': 20,
  'solana-pool': 20,
  envelopes: 10,
};

/**
 * Repeats what found no upstream that responds, as clients and the watcher do.
 * @param pass lets time pass before each further attempt
 */
export async function insist<T>(work: () => Promise<T>, pass: () => unknown = () => undefined): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RpcUnavailableError) || attempt === ATTEMPTS) throw error;
      await pass();
    }
  }
}

/** The same object, but for these methods. */
const replacing = <T extends object>(target: T, methods: Partial<T>): T =>
  new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name);
      // Its methods use private fields.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

const insistingAdapter = (adapter: ChainAdapter, looks: number): ChainAdapter =>
  replacing(adapter, {
    ready: async (timeoutMs) => {
      for (let attempt = 1; attempt < ATTEMPTS; attempt += 1) if (await adapter.ready(timeoutMs)) return true;
      return adapter.ready(timeoutMs);
    },
    build: (request) => insist(() => adapter.build(request)),
    isReusable: (...of) => insist(() => adapter.isReusable(...of)),
    fetchSent: async (hash) => {
      for (let look = 1; ; look += 1) {
        const found = await insist(() => adapter.fetchSent(hash));
        if (found !== null || look >= looks) return found;
      }
    },
    verify: (...of) => insist(() => adapter.verify(...of)),
    broadcast: async (transaction) => {
      for (let attempt = 1; ; attempt += 1) {
        const result = await insist(() => adapter.broadcast(transaction));
        if (result.kind !== 'unknown' || attempt === ATTEMPTS) return result;
      }
    },
  });

const insistingObserver = (observer: ChainObserver, looks: number, pass: () => unknown): ChainObserver =>
  replacing(observer, {
    step: async (cursor, watched) => {
      let step: Step = await insist(() => observer.step(cursor, watched), pass);
      for (let look = 1; look < looks && step.observations.length === 0; look += 1) {
        const before = step;
        await pass();
        const next = await insist(() => observer.step(before.cursor, watched), pass);
        step = { ...next, warnings: [...before.warnings, ...next.warnings] };
      }
      // Time passes while it catches up.
      if (step.behind > 0n) await pass();
      return step;
    },
    judge: async (hash, watch) => {
      for (let look = 1; ; look += 1) {
        const judged = await insist(() => observer.judge(hash, watch), pass);
        if (judged !== null || look >= looks) return judged;
        await pass();
      }
    },
  });

/**
 * Runs the suite behind each profile of the family that serves.
 * @param outcomes for every profile of the family: `serves`, or why the service cannot do its work over it
 */
export function conformanceBehindProviders(
  family: ChainFamily,
  start: () => Promise<SharedChain>,
  outcomes: Partial<Record<ProfileName, string>>,
  exempt: Exemptions = {},
): void {
  const names = PROFILE_NAMES.filter((name) => PROFILES[name].families.some((one) => one === family));
  describe(`profiles of providers for ${family}`, () => {
    let shared: SharedChain;
    beforeAll(async () => {
      shared = await start();
    });
    afterAll(() => shared.stop());

    it('are all listed, and none serves of which its profile says that it cannot', () => {
      expect(Object.keys(outcomes).toSorted()).toEqual(names.toSorted());
      for (const name of names.filter((one) => PROFILES[one].cannot.length > 0))
        expect({ name, outcome: outcomes[name] }).not.toEqual({ name, outcome: 'serves' });
    });

    for (const name of names.filter((one) => outcomes[one] === 'serves'))
      conformance(
        `${family} behind ${name}:`,
        async () => {
          let now = 0;
          const provider = await startProvider(name, shared.rpcUrl, {
            now: () => (now += PACE_MS),
            wait: () => Promise.resolve(),
            limits: LIMITS[name] ?? {},
          });
          const chain = await shared.at(provider.url);
          const looks = LOOKS[name] ?? 1;
          // What a watcher reads now and then is due by then.
          const slowly = async (move: () => Promise<void>): Promise<void> => {
            await move();
            if (looks > 1) await chain.pass();
          };
          return {
            ...chain,
            settle: () => slowly(() => chain.settle()),
            finalize: () => slowly(() => chain.finalize()),
            adapter: insistingAdapter(chain.adapter, looks),
            observer: insistingObserver(chain.observer, looks, chain.pass),
            stop: async () => {
              await chain.stop();
              await provider.stop();
            },
          };
        },
        exempt,
      );
  });
}
