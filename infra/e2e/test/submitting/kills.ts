import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { type CommandType, UNRELEASABLE_AFTER_MS } from '@pf/domain';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { type Instance, readBackingStack, type StackWallet, until } from '@pf/testing';
import { type Name, NAMES, SENDS, type Signed, type SubmittingHarness, type Victim } from './harness.ts';

const MIB = 2 ** 20;

/** Submits at a gateway that is about to die. */
interface Dying {
  readonly harness: SubmittingHarness;
  readonly gateway: Instance;
  readonly payments: readonly Signed[];
  /** Begins all submits. */
  readonly submit: () => void;
  /** Resolves when so many commands have been sent since submit() as payments are not answered yet. */
  readonly commandsWait: () => Promise<unknown>;
}

export interface Kill {
  readonly what: string;
  /** Submits, and ends when it is the moment to kill the gateway. */
  readonly moment: (dying: Dying) => Promise<void>;
  /** Once the gateway is dead and the writer goes on: puts right what else is not the gateway's own. */
  readonly after?: (harness: SubmittingHarness) => Promise<void>;
  /** What the gateway had sent to the log by then. */
  readonly commands: readonly CommandType[];
  /** No node has it then, and no process broadcasts it until it counts as forgotten. */
  readonly forgotten?: true;
}

/** What the nodes do with transactions that go through the spoilt upstreams. */
const spoil = (harness: SubmittingHarness, kind: 'hang' | 'swallow'): void => {
  for (const upstream of Object.values(harness.upstreams).flat()) upstream.faults = [{ kind, methods: SENDS }];
};
const heal = (harness: SubmittingHarness): void => {
  for (const upstream of Object.values(harness.upstreams).flat()) {
    upstream.faults = [];
    upstream.answer = () => undefined;
    upstream.calls.clear();
  }
};
const offered = (harness: SubmittingHarness, name: Name): number =>
  harness.upstreams[name].reduce(
    (sum, { calls }) => sum + SENDS.reduce((all, method) => all + (calls.get(method) ?? 0), 0),
    0,
  );
const goOn = ({ writer }: SubmittingHarness): void => writer.kill('SIGCONT');
const taken = ({ harness, payments }: Dying): Promise<unknown> =>
  until('the nodes to have all of it', async () =>
    (await Promise.all(payments.map((payment) => harness.isKnown(payment)))).every(Boolean),
  );

/** What the broker takes at most into the commands; with next to nothing it refuses whatever is to be appended. */
async function takeAtMost({ cluster }: SubmittingHarness, bytes: number): Promise<void> {
  const admin = new Kafka({
    clientId: 'test',
    brokers: readBackingStack().kafka.split(','),
    logLevel: logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    const topic = { type: ConfigResourceTypes.TOPIC, name: `${cluster.prefix}intent.commands` };
    // What is not named again falls back to the broker's own.
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ ...topic, configNames: ['cleanup.policy', 'retention.ms', 'message.timestamp.type'] }],
    });
    const kept = resources.flatMap(({ configEntries }) =>
      configEntries.map(({ configName, configValue }) => ({ name: configName, value: configValue })),
    );
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ ...topic, configEntries: [...kept, { name: 'max.message.bytes', value: String(bytes) }] }],
    });
  } finally {
    await admin.disconnect();
  }
}

/** Every point between a submit's claim, its broadcast and the record of it, in their order. */
export const KILLS: readonly Kill[] = [
  {
    what: 'when the claim command was sent but not decided',
    async moment({ harness, payments, submit, commandsWait }) {
      harness.writer.kill('SIGSTOP');
      submit();
      await commandsWait();
      for (const payment of payments) expect(await harness.isKnown(payment)).toBe(false);
    },
    commands: ['prepare_submission'],
    forgotten: true,
  },
  {
    what: 'when it has the claim and no node has the transaction',
    async moment({ harness, payments, submit }) {
      spoil(harness, 'hang');
      submit();
      await until('each transaction to be on its way', () =>
        NAMES.every((name) => offered(harness, name) >= payments.filter((payment) => payment.name === name).length),
      );
    },
    commands: ['prepare_submission'],
    forgotten: true,
  },
  {
    what: 'when a node has the transaction but its response is lost',
    async moment(dying) {
      spoil(dying.harness, 'swallow');
      dying.submit();
      await taken(dying);
    },
    commands: ['prepare_submission'],
  },
  {
    what: 'when a node has responded and the broadcast cannot be recorded',
    async moment(dying) {
      const { harness, gateway, submit, commandsWait } = dying;
      harness.writer.kill('SIGSTOP');
      submit();
      await commandsWait();
      await takeAtMost(harness, 1);
      goOn(harness);
      await taken(dying);
      await until('the log to refuse the record', () =>
        readFileSync(gateway.log, 'utf8').includes('larger than the max message size'),
      );
    },
    after: (harness) => takeAtMost(harness, MIB),
    commands: ['prepare_submission'],
  },
  {
    what: 'when the broadcast command was sent but not decided',
    async moment({ harness, payments, submit, commandsWait }) {
      const { promise: all, resolve } = Promise.withResolvers<void>();
      const arrived = new Set<unknown>();
      for (const upstream of Object.values(harness.upstreams).flat()) {
        upstream.answer = async ({ method, params }) => {
          if (!SENDS.includes(method)) return undefined;
          if (arrived.add(params[0]).size === payments.length) {
            harness.writer.kill('SIGSTOP');
            resolve();
          }
          await all;
          return undefined;
        };
      }
      // Decided in one go, they are broadcast at the same moment.
      harness.writer.kill('SIGSTOP');
      submit();
      await commandsWait();
      goOn(harness);
      await all;
      await commandsWait();
    },
    commands: ['prepare_submission', 'record_broadcast'],
  },
];

/**
 * The outcome of a kill: whether it met its point, and where each payment ended, by chain and whether it was submitted
 * again; null, or what it failed with.
 */
export interface Killed {
  readonly met: Promise<unknown>;
  readonly ends: ReadonlyMap<string, Promise<unknown>>;
}

const settled = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** Payers of a kill's own, by the places of the chains' names: while blocks flow. */
export const payersToBe = (harness: SubmittingHarness): Promise<StackWallet[][]> =>
  Promise.all(NAMES.map((name) => harness.funded(name, 2 * KILLS.length)));

/**
 * Kills one gateway after the other, each while it handles two payments a chain, of which one is submitted again
 * elsewhere.
 */
export async function killing(
  harness: SubmittingHarness,
  payers: readonly StackWallet[][],
): Promise<ReadonlyMap<Kill, Killed>> {
  const killed = new Map<Kill, Killed>();
  let next = harness.victim();
  const signed = (): Promise<Signed[]> =>
    Promise.all(NAMES.map((name, at) => harness.signedBy(name, payers[at]?.pop() ?? harness.walletOf(name, 0))));
  for (const [at, kill] of KILLS.entries()) {
    const [victim, again, alone] = [await next, await signed(), await signed()];
    // It starts while this one dies.
    if (at + 1 < KILLS.length) next = harness.victim();
    // Whoever waits for it hears of a failure.
    next.catch(() => undefined);
    const met = settled(die(harness, kill, victim, [...again, ...alone]));
    await met;
    const ends = new Map([
      ...again.map((payment) => [`${payment.name} true`, settled(endAgain(harness, payment))] as const),
      ...alone.map((payment) => [`${payment.name} false`, settled(end(harness, payment, kill.forgotten))] as const),
    ]);
    killed.set(kill, { met, ends });
  }
  return killed;
}

async function die(
  harness: SubmittingHarness,
  kill: Kill,
  { instance, api }: Victim,
  payments: readonly Signed[],
): Promise<void> {
  const before = await harness.sent();
  let answered = 0;
  let begun: Promise<unknown> = Promise.resolve();
  const submit = (): void => {
    begun = Promise.allSettled(
      payments.map((payment) => harness.submitOnce(api, payment).finally(() => (answered += 1))),
    );
  };
  let seen = before;
  const commandsWait = (): Promise<unknown> =>
    until('the commands to wait', async () => {
      const now = await harness.sent();
      if (now - seen + BigInt(answered) < BigInt(payments.length)) return false;
      seen = now;
      return true;
    });
  try {
    await kill.moment({ harness, gateway: instance, payments, submit, commandsWait });
  } finally {
    instance.kill('SIGKILL');
    await instance.exited;
    await begun;
    heal(harness);
    goOn(harness);
    await kill.after?.(harness);
  }
  const sent = await Promise.all(payments.map(({ id }) => harness.commandsAbout(id)));
  expect(sent).toEqual(payments.map(() => kill.commands));
}

/** @param forgotten it is broadcast when it cannot be released any more, and no earlier */
async function end(harness: SubmittingHarness, payment: Signed, forgotten = false): Promise<void> {
  await harness.reach(payment.id, 'finalized');
  await harness.expectPaidOnce(payment);
  if (!forgotten) return;
  const { submissions } = await harness.kept(payment.id);
  const { events } = (await harness.api.events(payment.id)).body;
  const seenAt = Date.parse(events.find(({ type }) => type === 'intent.pending')?.createdAt ?? '');
  expect(seenAt - (submissions[0]?.preparedAt ?? Infinity)).toBeGreaterThan(UNRELEASABLE_AFTER_MS);
}

/** As a client does that got no answer. What may be asked for again is asked for again, at another gateway. */
async function endAgain(harness: SubmittingHarness, payment: Signed): Promise<void> {
  expect(await harness.submit(harness.api, payment)).toMatchObject({ status: 200, txSignature: payment.hash });
  await end(harness, payment);
}
