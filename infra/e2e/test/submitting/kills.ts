import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import { type CommandType, UNRELEASABLE_AFTER_MS } from '@pf/domain';
import { topicConfig } from '@pf/event-log';
import kafkajs from 'kafkajs';
import { type Instance, readBackingStack, type StackWallet, until } from '@pf/testing';
import { type Name, NAMES } from '../chain-names.ts';
import { SENDS, type Signed, type SubmittingHarness, type Victim } from './harness.ts';

const LIMIT = 'max.message.bytes';
/** With which the topic was created; a change of its limit must not touch the other settings. */
const { [LIMIT]: usualBytes, ...others } = topicConfig('intent.commands', 1);
const USUAL_BYTES = Number(usualBytes);
const OTHER_SETTINGS = Object.keys(others);

/** The context of a kill: payments that are submitted at a gateway that is about to be killed. */
interface KillContext {
  readonly harness: SubmittingHarness;
  readonly gateway: Instance;
  readonly payments: readonly Signed[];
  /** Starts all submits. */
  readonly submit: () => void;
  /** Resolves when every payment without a response has sent a command since the last call or submit(). */
  readonly commandsQueued: () => Promise<unknown>;
}

export interface Kill {
  readonly what: string;
  /** Submits; resolves when it is time to kill the gateway. */
  readonly moment: (context: KillContext) => Promise<void>;
  /** Runs when the gateway is dead and the writer continues: restores what the kill changed elsewhere. */
  readonly after?: (harness: SubmittingHarness) => Promise<void>;
  /** The commands that the gateway had sent by then. */
  readonly commands: readonly CommandType[];
  /** No node has the transaction, and no process broadcasts it until it can no longer be released. */
  readonly forgotten?: true;
}

/** Injects a fault into every upstream, for transactions only. */
const injectFault = (harness: SubmittingHarness, kind: 'hang' | 'swallow'): void => {
  for (const upstream of Object.values(harness.upstreams).flat()) upstream.faults = [{ kind, methods: SENDS }];
};
const heal = (harness: SubmittingHarness): void => {
  for (const upstream of Object.values(harness.upstreams).flat()) {
    upstream.faults = [];
    upstream.respond = () => undefined;
    upstream.calls.clear();
  }
};
const sendsTo = (harness: SubmittingHarness, name: Name): number =>
  harness.upstreams[name].reduce(
    (sum, { calls }) => sum + SENDS.reduce((all, method) => all + (calls.get(method) ?? 0), 0),
    0,
  );
const resumeWriter = ({ writer }: SubmittingHarness): void => writer.kill('SIGCONT');
const untilKnown = ({ harness, payments }: KillContext): Promise<unknown> =>
  until('the nodes to have all of it', async () =>
    (await Promise.all(payments.map((payment) => harness.isKnown(payment)))).every(Boolean),
  );

/** Sets the largest record that the topic of commands accepts; with 1 byte the broker refuses every append. */
async function limitCommandSize({ cluster }: SubmittingHarness, bytes: number): Promise<void> {
  const admin = new kafkajs.Kafka({
    clientId: 'test',
    brokers: readBackingStack().kafka.split(','),
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  try {
    const topic = { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${cluster.prefix}intent.commands` };
    const settings = async (configNames: string[]): Promise<{ name: string; value: string }[]> => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ ...topic, configNames }],
      });
      return resources.flatMap(({ configEntries }) =>
        configEntries.map(({ configName, configValue }) => ({ name: configName, value: configValue })),
      );
    };
    const limit = { name: LIMIT, value: String(bytes) };
    // alterConfigs resets every setting that it does not list to the broker's default.
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ ...topic, configEntries: [...(await settings(OTHER_SETTINGS)), limit] }],
    });
    // The controller has it then; the broker reads it from the controller later.
    await until('the broker to have the limit', async () => {
      const [found] = await settings([LIMIT]);
      return found?.value === limit.value;
    });
  } finally {
    await admin.disconnect();
  }
}

/** Every point between the claim, the broadcast and the record of the broadcast, in order. */
export const KILLS: readonly Kill[] = [
  {
    what: 'when the claim command was sent but not decided',
    async moment({ harness, payments, submit, commandsQueued }) {
      harness.writer.kill('SIGSTOP');
      submit();
      await commandsQueued();
      for (const payment of payments) expect(await harness.isKnown(payment)).toBe(false);
    },
    commands: ['prepare_submission'],
    forgotten: true,
  },
  {
    what: 'when it has the claim and no node has the transaction',
    async moment({ harness, payments, submit }) {
      injectFault(harness, 'hang');
      submit();
      await until('each transaction to be on its way', () =>
        NAMES.every((name) => sendsTo(harness, name) >= payments.filter((payment) => payment.name === name).length),
      );
    },
    commands: ['prepare_submission'],
    forgotten: true,
  },
  {
    what: 'when a node has the transaction but its response is lost',
    async moment(context) {
      injectFault(context.harness, 'swallow');
      context.submit();
      await untilKnown(context);
    },
    commands: ['prepare_submission'],
  },
  {
    what: 'when a node has responded and the broadcast cannot be recorded',
    async moment(context) {
      const { harness, gateway, submit, commandsQueued } = context;
      harness.writer.kill('SIGSTOP');
      submit();
      await commandsQueued();
      await limitCommandSize(harness, 1);
      resumeWriter(harness);
      await untilKnown(context);
      await until('the log to refuse the record', () =>
        readFileSync(gateway.log, 'utf8').includes('larger than the max message size'),
      );
    },
    after: (harness) => limitCommandSize(harness, USUAL_BYTES),
    commands: ['prepare_submission'],
  },
  {
    what: 'when the broadcast command was sent but not decided',
    async moment({ harness, payments, submit, commandsQueued }) {
      const { promise: all, resolve } = Promise.withResolvers<void>();
      const arrived = new Set<unknown>();
      for (const upstream of Object.values(harness.upstreams).flat()) {
        upstream.respond = async ({ method, params }) => {
          if (!SENDS.includes(method)) return undefined;
          if (arrived.add(params[0]).size === payments.length) {
            harness.writer.kill('SIGSTOP');
            resolve();
          }
          await all;
          return undefined;
        };
      }
      // Decided in one batch, so that they are broadcast at the same time.
      harness.writer.kill('SIGSTOP');
      submit();
      await commandsQueued();
      resumeWriter(harness);
      await all;
      await commandsQueued();
    },
    commands: ['prepare_submission', 'record_broadcast'],
  },
];

/**
 * The result of a kill: whether it happened at its point, and of each payment, by chain and whether it was submitted
 * again: null, or the error.
 */
export interface Killed {
  readonly reached: Promise<unknown>;
  readonly results: ReadonlyMap<string, Promise<unknown>>;
}

const settled = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** New payers for every kill, by the index of the chain in NAMES. Needs blocks to be produced. */
export const fundPayers = (harness: SubmittingHarness): Promise<StackWallet[][]> =>
  Promise.all(NAMES.map((name) => harness.funded(name, 2 * KILLS.length)));

/**
 * Kills one gateway after the other, each while it handles two payments per chain, one of which is then submitted again
 * at another gateway.
 */
export async function killGateways(
  harness: SubmittingHarness,
  payers: readonly StackWallet[][],
): Promise<ReadonlyMap<Kill, Killed>> {
  const killed = new Map<Kill, Killed>();
  let next = harness.victim();
  const signed = (): Promise<Signed[]> =>
    Promise.all(NAMES.map((name, at) => harness.signedBy(name, payers[at]?.pop() ?? harness.walletOf(name, 0))));
  for (const [at, kill] of KILLS.entries()) {
    const [victim, again, alone] = [await next, await signed(), await signed()];
    // The next one starts while this one is killed.
    if (at + 1 < KILLS.length) next = harness.victim();
    // The loop awaits it above; this only prevents an unhandled rejection.
    next.catch(() => undefined);
    // One that starts while the topics have other settings would refuse to: it is ready before.
    if (kill.after) await next.catch(() => undefined);
    const reached = settled(killDuringSubmit(harness, kill, victim, [...again, ...alone]));
    await reached;
    const results = new Map([
      ...again.map((payment) => [`${payment.name} true`, settled(finishResubmitted(harness, payment))] as const),
      ...alone.map((payment) => [`${payment.name} false`, settled(finish(harness, payment, kill.forgotten))] as const),
    ]);
    killed.set(kill, { reached, results });
  }
  return killed;
}

async function killDuringSubmit(
  harness: SubmittingHarness,
  kill: Kill,
  { instance, api }: Victim,
  payments: readonly Signed[],
): Promise<void> {
  const before = await harness.sent();
  let responded = 0;
  let begun: Promise<unknown> = Promise.resolve();
  const submit = (): void => {
    begun = Promise.allSettled(
      payments.map((payment) => harness.submitOnce(api, payment).finally(() => (responded += 1))),
    );
  };
  let seen = before;
  const commandsQueued = (): Promise<unknown> =>
    until('the commands to wait', async () => {
      const now = await harness.sent();
      if (now - seen + BigInt(responded) < BigInt(payments.length)) return false;
      seen = now;
      return true;
    });
  try {
    await kill.moment({ harness, gateway: instance, payments, submit, commandsQueued });
  } finally {
    instance.kill('SIGKILL');
    await instance.exited;
    await begun;
    heal(harness);
    resumeWriter(harness);
    await kill.after?.(harness);
  }
  const sent = await Promise.all(payments.map(({ id }) => harness.commandsAbout(id)));
  expect(sent).toEqual(payments.map(() => kill.commands));
}

/** @param forgotten the transaction must be broadcast only when it can no longer be released */
async function finish(harness: SubmittingHarness, payment: Signed, forgotten = false): Promise<void> {
  await harness.reach(payment.id, 'finalized');
  await harness.expectPaidOnce(payment);
  if (!forgotten) return;
  const { submissions } = await harness.stored(payment.id);
  const { events } = (await harness.api.events(payment.id)).body;
  const seenAt = Date.parse(events.find(({ type }) => type === 'intent.pending')?.createdAt ?? '');
  expect(seenAt - (submissions[0]?.preparedAt ?? Infinity)).toBeGreaterThan(UNRELEASABLE_AFTER_MS);
}

/** Submits again at another gateway, as a client does that got no response. */
async function finishResubmitted(harness: SubmittingHarness, payment: Signed): Promise<void> {
  expect(await harness.submit(harness.api, payment)).toMatchObject({ status: 200, txSignature: payment.hash });
  await finish(harness, payment);
}
