import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { type CommandType, UNRELEASABLE_AFTER_MS } from '@pf/domain';
import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { type Instance, readBackingStack, type StackWallet, until } from '@pf/testing';
import { type Name, NAMES, SENDS, type Signed, type SubmittingHarness, type Victim } from './harness.ts';

const MIB = 2 ** 20;

/** Submits at a gateway that is about to die. */
interface Dying {
  readonly stage: SubmittingHarness;
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
  readonly after?: (stage: SubmittingHarness) => Promise<void>;
  /** What the gateway had sent to the log by then. */
  readonly commands: readonly CommandType[];
  /** No node has it then, and nobody broadcasts it until it counts as forgotten. */
  readonly forgotten?: true;
}

/** What the nodes do with transactions that go through the spoilt upstreams. */
const spoil = (stage: SubmittingHarness, kind: 'hang' | 'swallow'): void => {
  for (const upstream of Object.values(stage.upstreams).flat()) upstream.faults = [{ kind, methods: SENDS }];
};
const heal = (stage: SubmittingHarness): void => {
  for (const upstream of Object.values(stage.upstreams).flat()) {
    upstream.faults = [];
    upstream.answer = () => undefined;
    upstream.calls.clear();
  }
};
const offered = (stage: SubmittingHarness, name: Name): number =>
  stage.upstreams[name].reduce(
    (sum, { calls }) => sum + SENDS.reduce((all, method) => all + (calls.get(method) ?? 0), 0),
    0,
  );
const goOn = ({ writer }: SubmittingHarness): void => writer.kill('SIGCONT');
const taken = ({ stage, payments }: Dying): Promise<unknown> =>
  until('the nodes to have all of it', async () =>
    (await Promise.all(payments.map((payment) => stage.isKnown(payment)))).every(Boolean),
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
    async moment({ stage, payments, submit, commandsWait }) {
      stage.writer.kill('SIGSTOP');
      submit();
      await commandsWait();
      for (const payment of payments) expect(await stage.isKnown(payment)).toBe(false);
    },
    commands: ['prepare_submission'],
    forgotten: true,
  },
  {
    what: 'when it has the claim and no node has the transaction',
    async moment({ stage, payments, submit }) {
      spoil(stage, 'hang');
      submit();
      await until('each transaction to be on its way', () =>
        NAMES.every((name) => offered(stage, name) >= payments.filter((payment) => payment.name === name).length),
      );
    },
    commands: ['prepare_submission'],
    forgotten: true,
  },
  {
    what: 'when a node has the transaction but its response is lost',
    async moment(dying) {
      spoil(dying.stage, 'swallow');
      dying.submit();
      await taken(dying);
    },
    commands: ['prepare_submission'],
  },
  {
    what: 'when a node has responded and the broadcast cannot be recorded',
    async moment(dying) {
      const { stage, gateway, submit, commandsWait } = dying;
      stage.writer.kill('SIGSTOP');
      submit();
      await commandsWait();
      await takeAtMost(stage, 1);
      goOn(stage);
      await taken(dying);
      await until('the log to refuse the record', () =>
        readFileSync(gateway.log, 'utf8').includes('larger than the max message size'),
      );
    },
    after: (stage) => takeAtMost(stage, MIB),
    commands: ['prepare_submission'],
  },
  {
    what: 'when the broadcast command was sent but not decided',
    async moment({ stage, payments, submit, commandsWait }) {
      const { promise: all, resolve } = Promise.withResolvers<void>();
      const arrived = new Set<unknown>();
      for (const upstream of Object.values(stage.upstreams).flat()) {
        upstream.answer = async ({ method, params }) => {
          if (!SENDS.includes(method)) return undefined;
          if (arrived.add(params[0]).size === payments.length) {
            stage.writer.kill('SIGSTOP');
            resolve();
          }
          await all;
          return undefined;
        };
      }
      // Decided in one go, they are broadcast at the same moment.
      stage.writer.kill('SIGSTOP');
      submit();
      await commandsWait();
      goOn(stage);
      await all;
      await commandsWait();
    },
    commands: ['prepare_submission', 'record_broadcast'],
  },
];

/**
 * What became of a kill: whether it met its point, and where each payment ended, by chain and whether it was submitted
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
export const payersToBe = (stage: SubmittingHarness): Promise<StackWallet[][]> =>
  Promise.all(NAMES.map((name) => stage.funded(name, 2 * KILLS.length)));

/**
 * Kills one gateway after the other, each while it handles two payments a chain, of which one is submitted again
 * elsewhere.
 */
export async function killing(
  stage: SubmittingHarness,
  payers: readonly StackWallet[][],
): Promise<ReadonlyMap<Kill, Killed>> {
  const killed = new Map<Kill, Killed>();
  let next = stage.victim();
  const signed = (): Promise<Signed[]> =>
    Promise.all(NAMES.map((name, at) => stage.signedBy(name, payers[at]?.pop() ?? stage.walletOf(name, 0))));
  for (const [at, kill] of KILLS.entries()) {
    const [victim, again, alone] = [await next, await signed(), await signed()];
    // It starts while this one dies.
    if (at + 1 < KILLS.length) next = stage.victim();
    // Whoever waits for it hears of a failure.
    next.catch(() => undefined);
    const met = settled(die(stage, kill, victim, [...again, ...alone]));
    await met;
    const ends = new Map([
      ...again.map((payment) => [`${payment.name} true`, settled(endAgain(stage, payment))] as const),
      ...alone.map((payment) => [`${payment.name} false`, settled(end(stage, payment, kill.forgotten))] as const),
    ]);
    killed.set(kill, { met, ends });
  }
  return killed;
}

async function die(
  stage: SubmittingHarness,
  kill: Kill,
  { instance, api }: Victim,
  payments: readonly Signed[],
): Promise<void> {
  const before = await stage.sent();
  let answered = 0;
  let begun: Promise<unknown> = Promise.resolve();
  const submit = (): void => {
    begun = Promise.allSettled(
      payments.map((payment) => stage.submitOnce(api, payment).finally(() => (answered += 1))),
    );
  };
  let seen = before;
  const commandsWait = (): Promise<unknown> =>
    until('the commands to wait', async () => {
      const now = await stage.sent();
      if (now - seen + BigInt(answered) < BigInt(payments.length)) return false;
      seen = now;
      return true;
    });
  try {
    await kill.moment({ stage, gateway: instance, payments, submit, commandsWait });
  } finally {
    instance.kill('SIGKILL');
    await instance.exited;
    await begun;
    heal(stage);
    goOn(stage);
    await kill.after?.(stage);
  }
  const sent = await Promise.all(payments.map(({ id }) => stage.commandsAbout(id)));
  expect(sent).toEqual(payments.map(() => kill.commands));
}

/** @param forgotten it is broadcast when it cannot be released any more, and no earlier */
async function end(stage: SubmittingHarness, payment: Signed, forgotten = false): Promise<void> {
  await stage.reach(payment.id, 'finalized');
  await stage.expectPaidOnce(payment);
  if (!forgotten) return;
  const { submissions } = await stage.kept(payment.id);
  const { events } = (await stage.api.events(payment.id)).body;
  const seenAt = Date.parse(events.find(({ type }) => type === 'intent.pending')?.createdAt ?? '');
  expect(seenAt - (submissions[0]?.preparedAt ?? Infinity)).toBeGreaterThan(UNRELEASABLE_AFTER_MS);
}

/** As a client does that got no answer. What may be asked for again is asked for again, at another gateway. */
async function endAgain(stage: SubmittingHarness, payment: Signed): Promise<void> {
  expect(await stage.submit(stage.api, payment)).toMatchObject({ status: 200, txSignature: payment.hash });
  await end(stage, payment);
}
