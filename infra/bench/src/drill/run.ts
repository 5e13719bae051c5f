import { setTimeout as delay } from 'node:timers/promises';
import { apiClient, hasValidSignature, until, type WebhookReceiver, webhookReceiver } from '@pf/testing';
import { newWallet } from '@pf/testing/wallets';
import { z } from 'zod';
import { changeAccount, isRefused, prepareAccount } from './accounts.ts';
import { beforeHeads, type Archived, missing, readArchive, readLog } from './evidence.ts';
import { DrillLoad, PAYMENT, TOKEN } from './load.ts';
import { Mirror } from './mirror.ts';
import { repairLog, rescan, restoreDatabase, Steps, verifyLog } from './repair.ts';
import { type Check, type DrillReport, problemsOf } from './report.ts';
import { type DrillRig, startDrillRig } from './rig.ts';

/** Every case of a restore, by what happens. */
export const CASES = ['postgres-earlier', 'kafka-earlier', 'mirrored', 'kafka-lost', 'both-lost'] as const;
export type Case = (typeof CASES)[number];

export interface DrillOptions {
  readonly case: Case;
  /** How long the load goes on after the backup, and how far the archive or the mirror is then behind. Seconds. */
  readonly loadSeconds: number;
  readonly lagSeconds: number;
  /** Gets a line of progress. */
  readonly say: (line: string) => void;
}

const SERVICES = ['gateway', 'intent', 'watcher', 'webhook', 'archive'] as const;
const SETTLED_MS = 120_000;
/** Services follow a revoked key within 30 s. */
const FOLLOWED_MS = 60_000;
/** An attempt that was under way when its URL was removed ends after this. */
const UNDER_WAY_MS = 20_000;
/** A failed attempt is repeated after at most 72 s. */
const DELIVERED_MS = 150_000;
/** Before the disaster something of everything has happened. */
const CREATES = 30;
const PAID = 3;
/** A wallet of the chain that the load does not use. */
const PAYER_AFTERWARDS = 5;

const archiveReport = z.object({
  problems: z.array(z.string()),
  partitions: z.array(z.object({ behind: z.number().nullable(), problems: z.array(z.string()) })),
});

/** Starts a system, destroys it as the case says, repairs it as the runbook says, and looks for what is wrong. */
export async function drill(options: DrillOptions): Promise<DrillReport> {
  const rig = await startDrillRig();
  const removed = await webhookReceiver();
  let keep = true;
  try {
    await rig.services.start(SERVICES, rig.options());
    const report = await rehearse(rig, removed, options);
    keep = problemsOf(report).length > 0;
    return report;
  } finally {
    if (keep) options.say(`The data and logs are in ${rig.folder}`);
    await removed.close();
    await rig.close(keep);
  }
}

async function rehearse(rig: DrillRig, removed: WebhookReceiver, options: DrillOptions): Promise<DrillReport> {
  const { say } = options;
  const merchant = newWallet(rig.chain);
  const load = new DrillLoad(rig, merchant.address);
  const archiveKey = await rig.archiveKey();
  const key = await prepareAccount(rig, removed);
  const began = new Date(Date.now() - 60_000).toISOString();

  say('load');
  load.start();
  await until('creates and payments', () => load.acknowledged.length >= CREATES && load.final.size >= PAID, SETTLED_MS);
  const witness = await until('an intent', async () => load.create(apiClient(await rig.api(), live(rig))));
  await until('the archive to have it', async () =>
    (await readArchive(rig)).events.some((one) => one.includes(witness)),
  );
  const fromBlock = BigInt(z.string().parse(await rig.chain.rpc('eth_blockNumber')));

  const disaster = await prepareDisaster(rig, options.case);
  const changes = await changeAccount(rig, key, removed);
  await delay(options.loadSeconds * 1_000);
  // From here on the copy is behind, as far as it may be.
  await disaster.copyEnds();
  const { body } = await until('the witness to be detected', async () => {
    const detected = await apiClient(await rig.api(), live(rig)).detected(witness);
    return detected.status === 200 && detected;
  });
  load.note('intent.detected', body.intent);
  const told = (type: string) =>
    rig.receiver.received.some(({ body: { type: one, data } }) => one === type && data.intent.id === witness);
  await until('its webhook', () => told('intent.detected'));
  await delay(options.lagSeconds * 1_000);

  say(`disaster: ${options.case}`);
  const struckAt = Date.now();
  const struck = performance.now();
  load.end();
  await disaster.strike();

  say('repair');
  const steps = new Steps(say);
  const isDatabaseBack = options.case === 'postgres-earlier' || options.case === 'both-lost';
  const incident = {
    archiveKey,
    // Deliveries of a restored database do not tell what was sent since its backup.
    since: isDatabaseBack ? new Date(struckAt).toISOString() : began,
    fromBlock: fromBlock > 1n ? fromBlock : 1n,
  };
  let secret = changes.secret;
  let outstanding: ReadonlySet<string> = new Set();
  if (isDatabaseBack) {
    secret = await restoreDatabase(rig, steps, { restore: disaster.restorePostgres, changes, removed });
    outstanding = await outstandingDeliveries(rig);
  }
  let before: Archived = { events: [], heads: new Map() };
  let differing: readonly string[] | null = null;
  if (options.case === 'postgres-earlier') {
    await steps.take('pf positions reset', () => rig.mustPf('positions', 'reset', '--since', incident.since));
    await steps.take('start the services', () => rig.services.start(['gateway', 'webhook'], rig.options()));
    await steps.take('pf watch rescan', () => rescan(rig, incident.fromBlock));
  } else {
    differing = await repairLog(rig, steps, incident, async () => {
      before = await readArchive(rig);
      await disaster.prepareLog(steps);
    });
  }
  await load.ended();

  say('check');
  await until('a create', () => createNew(rig, merchant.address), SETTLED_MS);
  const createdSeconds = (performance.now() - struck) / 1_000;
  // Where the log has lost that the witness was detected, this takes its version, and is another event.
  await until(
    'the witness to be cancelled',
    async () => (await apiClient(await rig.api(), live(rig)).cancel(witness)).status === 200,
  );
  const afterwards = new DrillLoad(rig, merchant.address);
  const paid = await until(
    'a new payment',
    async () => afterwards.pay(apiClient(await rig.api(), live(rig)), PAYER_AFTERWARDS),
    SETTLED_MS,
  );
  await until(
    'its webhook',
    () =>
      rig.receiver.received.some(({ body: { type, data } }) => type === 'intent.finalized' && data.intent.id === paid),
    SETTLED_MS,
  );
  const paidSeconds = (performance.now() - struck) / 1_000;

  const log = await settledLog(rig, load);
  const lost = missing(load.acknowledged, log);
  const known = new Set<string>(log.map(({ intentId }) => intentId));
  const webhooks = await judgeWebhooks(rig, { log, isDatabaseBack, backup: disaster.backupAt, struckAt, outstanding });
  const texts = new Set(log.map(({ text }) => text));
  const isLogBack = options.case !== 'postgres-earlier';
  if (isLogBack && !lost.some(({ intentId }) => intentId === witness))
    throw new Error('The disaster has lost nothing: what came after the copy is still there.');
  const onChain = await landed(rig, load.submitted);
  const checks: Check[] = [
    ...(isLogBack
      ? [
          {
            check: 'every event that was archived is in the log, byte for byte',
            problems: before.events.filter((text) => !texts.has(text)),
          },
        ]
      : []),
    {
      check: isLogBack
        ? "nothing acknowledged before the archive's head is missing"
        : 'nothing acknowledged is missing',
      problems: (isLogBack ? beforeHeads(lost, before) : lost).map(({ type, intentId }) => `${type} of ${intentId}`),
    },
    ...(isLogBack && !isDatabaseBack && differing !== null
      ? [
          {
            check: '`pf log verify` names the intents of every change that is lost',
            problems: lost.flatMap(({ type, intentId }) =>
              differing.includes(intentId) ? [] : [`${type} of ${intentId}`],
            ),
          },
        ]
      : []),
    {
      check: 'every payment on the chain whose intent is there is final',
      problems: [...onChain]
        .map((id) => [id, log.flatMap(({ intentId, type }) => (intentId === id ? [type] : []))] as const)
        .filter(([, types]) => types.length > 0 && !types.includes('intent.finalized'))
        .map(([id, types]) => `${id}: ${types.join(', ')}`),
    },
    ...webhooks.checks,
    {
      check: 'a revoked key stays revoked, others are taken',
      problems: [
        ...((await until('the key to be refused', () => isRefused(rig, changes.revoked.key), FOLLOWED_MS).catch(
          () => false,
        ))
          ? []
          : ['the revoked key is taken']),
        ...((await isRefused(rig, live(rig))) ? ['another key is refused'] : []),
      ],
    },
    {
      check: 'webhooks are signed with the secret that was given last',
      problems: rig.receiver.received
        .filter(({ body: { data } }) => data.intent.id === paid)
        .flatMap((webhook) => (hasValidSignature(webhook, secret) ? [] : [`${webhook.body.type} is not`])),
    },
    {
      check: 'a removed URL gets nothing',
      problems: removed.received
        .filter(({ at }) => at > changes.removedAt + UNDER_WAY_MS)
        .map(({ body: { type, data } }) => `${type} of ${data.intent.id}`),
    },
    { check: '`pf log verify` finds nothing', problems: await whenSettled(() => logProblems(rig)) },
    {
      check: '`pf ledger verify` finds nothing, and the archive goes on',
      problems: await whenSettled(() => archiveProblems(rig)),
    },
    { check: 'new intents are created and paid, and their webhooks come', problems: [] },
  ];
  const first = Math.min(...lost.map(({ at }) => at));
  return {
    case: options.case,
    loss: {
      changes: lost.length,
      acknowledged: load.acknowledged.length,
      seconds: lost.length === 0 ? 0 : Math.max(0, Math.round((struckAt - first) / 100) / 10),
      accounts: isDatabaseBack
        ? { changes: changes.count, seconds: Math.round((struckAt - disaster.backupAt) / 100) / 10 }
        : { changes: 0, seconds: 0 },
      paymentsWithoutIntent: [...onChain].filter((id) => !known.has(id)).length,
      webhooksNotSent: webhooks.notSent,
      webhooksRepeated: webhooks.repeated,
    },
    steps: steps.taken,
    seconds: { created: createdSeconds, paid: paidSeconds },
    events: log.length,
    webhooks: rig.receiver.received.length,
    checks,
  };
}

const live = ({ cluster }: DrillRig): string => cluster.apiKeys.test;

/** What a case destroys, and what the runbook brings back before the log is imported. */
interface Disaster {
  /** When the copies were made, ms since 1970. */
  readonly backupAt: number;
  /** The copy that the repair ends at gets nothing more. */
  readonly copyEnds: () => Promise<void>;
  readonly strike: () => Promise<void>;
  readonly restorePostgres: () => Promise<void>;
  readonly prepareLog: (steps: Steps) => Promise<void>;
}

async function prepareDisaster(rig: DrillRig, name: Case): Promise<Disaster> {
  const endArchive = (): Promise<void> => rig.services.end(['archive']);
  const createTopics = (steps: Steps): Promise<void> => steps.take('create the topics', () => rig.job('topics'));
  const nothing = (): Promise<void> => Promise.resolve();
  const none = { copyEnds: nothing, strike: nothing, restorePostgres: nothing, prepareLog: nothing };
  switch (name) {
    case 'postgres-earlier': {
      const backup = await rig.postgres.backUp();
      return {
        ...none,
        backupAt: Date.now(),
        strike: () => rig.postgres.primary.kill(),
        restorePostgres: () => rig.postgres.restore(backup),
      };
    }
    case 'kafka-earlier': {
      const snapshot = await rig.snapshotBroker();
      return { ...none, backupAt: Date.now(), copyEnds: endArchive, strike: () => rig.replaceDisks(snapshot) };
    }
    case 'mirrored': {
      const other = await rig.startOtherBrokers();
      const mirror = await Mirror.start(rig, other);
      return {
        ...none,
        backupAt: Date.now(),
        async copyEnds() {
          await Promise.all([mirror.stop(), endArchive()]);
        },
        async strike() {
          await rig.brokers.nodes[0]?.kill();
        },
        async prepareLog(steps) {
          await steps.take('end gateway; KAFKA_BROKERS is the mirror', async () => {
            await rig.services.end(['gateway']);
            rig.moveTo(other);
          });
          await createTopics(steps);
        },
      };
    }
    case 'kafka-lost':
      return {
        ...none,
        backupAt: Date.now(),
        copyEnds: endArchive,
        strike: () => rig.replaceDisks(null),
        prepareLog: createTopics,
      };
    case 'both-lost': {
      const backup = await rig.postgres.backUp();
      return {
        ...none,
        backupAt: Date.now(),
        copyEnds: endArchive,
        async strike() {
          await Promise.all([rig.postgres.primary.kill(), rig.replaceDisks(null)]);
        },
        restorePostgres: () => rig.postgres.restore(backup),
        prepareLog: createTopics,
      };
    }
  }
}

async function createNew(rig: DrillRig, merchant: string): Promise<string | false> {
  const { status, body } = await apiClient(await rig.api(), live(rig)).create({
    chain: rig.chain.caip2,
    token: TOKEN,
    amount: PAYMENT.amount,
    requestor: merchant,
  });
  return status === 201 && body.intent.id;
}

/** The ids of events whose deliveries the restored database has as outstanding. */
async function outstandingDeliveries({ cluster }: DrillRig): Promise<ReadonlySet<string>> {
  const { rows } = await cluster.database.sql.query<{ event_id: string }>(
    'SELECT event_id FROM service.deliveries WHERE next_attempt_at IS NOT NULL',
  );
  return new Set(rows.map(({ event_id: id }) => id));
}

/** The intents whose submitted payments are in a block. */
async function landed({ chain }: DrillRig, submitted: ReadonlyMap<string, string>): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const receipt = z.object({ status: z.literal('0x1') });
  for (const [id, hash] of submitted)
    if (receipt.safeParse(await chain.rpc('eth_getTransactionReceipt', hash)).success) found.add(id);
  return found;
}

/** The log when all payments that reached the chain are final in it. */
async function settledLog(rig: DrillRig, load: DrillLoad) {
  let log = await readLog(rig);
  await until(
    'all payments to be final',
    async () => {
      log = await readLog(rig);
      const known = new Set<string>(log.map(({ intentId }) => intentId));
      const final = new Set<string>(
        log.flatMap(({ intentId, type }) => (type === 'intent.finalized' ? [intentId] : [])),
      );
      return [...(await landed(rig, load.submitted))].every((id) => !known.has(id) || final.has(id));
    },
    SETTLED_MS,
    // Those that are not are named below.
  ).catch(() => undefined);
  return log;
}

/** What is known of an event's deliveries, in words. */
async function deliveryOf({ cluster }: DrillRig, eventId: string): Promise<string> {
  const { rows } = await cluster.database.sql.query<{ said: string }>(
    `SELECT concat_ws(' ', delivery.status, 'attempt', number, attempt.at, coalesce(reason, 'succeeded')) AS said
      FROM service.deliveries AS delivery LEFT JOIN service.delivery_attempts AS attempt ON delivery_id = delivery.id
      WHERE event_id = $1 ORDER BY delivery.id, number`,
    [eventId],
  );
  return `event ${eventId}, ${rows.length === 0 ? 'no delivery' : rows.map(({ said }) => said).join('; ')}`;
}

interface WebhookEvidence {
  readonly log: Awaited<ReturnType<typeof readLog>>;
  readonly isDatabaseBack: boolean;
  readonly backup: number;
  readonly struckAt: number;
  readonly outstanding: ReadonlySet<string>;
}

async function judgeWebhooks(rig: DrillRig, evidence: WebhookEvidence) {
  const { log, isDatabaseBack, backup, struckAt, outstanding } = evidence;
  const came = (): ReadonlySet<string> =>
    new Set(rig.receiver.received.map(({ body }) => `${body.eventId} ${body.type}`));
  // What was not sent before a database was set back is not sent by itself: its positions begin at the incident.
  const forgotten = ({ at }: { readonly at: number }): boolean =>
    isDatabaseBack && at > backup - 1_000 && at < struckAt;
  const unsent = () => {
    const there = came();
    return log.filter(({ isPublic, eventId, type }) => isPublic && !there.has(`${eventId} ${type}`));
  };
  await until('all webhooks', () => unsent().every(forgotten), DELIVERED_MS).catch(() => undefined);
  const perEvent = Map.groupBy(rig.receiver.received, ({ body }) => body.eventId);
  const repeated = [...perEvent].filter(([, same]) => same.length > 1);
  const checks: Check[] = [
    {
      check:
        'no webhook is sent a second time' + (isDatabaseBack ? ' but those that the backup has as outstanding' : ''),
      problems: await Promise.all(
        repeated
          .filter(([id]) => !outstanding.has(id))
          .map(async ([id, same]) => `${id} came ${same.length} times: ${await deliveryOf(rig, id)}`),
      ),
    },
    {
      check: isDatabaseBack
        ? 'every other event has its webhook, but for those of before the incident'
        : 'every event of the log has its webhook',
      problems: await Promise.all(
        unsent()
          .filter((event) => !forgotten(event))
          .map(async ({ eventId, type, intentId }) => `${type} of ${intentId}: ${await deliveryOf(rig, eventId)}`),
      ),
    },
    {
      check: 'webhooks with one event id say the same',
      problems: [...perEvent].filter(([, same]) => new Set(same.map(({ raw }) => raw)).size > 1).map(([id]) => id),
    },
  ];
  return { checks, repeated: repeated.length, notSent: unsent().length };
}

async function logProblems(rig: DrillRig): Promise<readonly string[]> {
  return (await verifyLog(rig)).flatMap(({ problems }) => problems);
}

async function archiveProblems(rig: DrillRig): Promise<readonly string[]> {
  const { answer, errors } = await rig.pf('ledger', 'verify');
  const found = archiveReport.safeParse(answer);
  if (!found.success) return [errors];
  const { partitions, problems: ofNoPartition } = found.data;
  return [
    ...ofNoPartition,
    ...partitions.flatMap(({ behind, problems }) => [...problems, ...(behind === 0 ? [] : ['it is behind'])]),
  ];
}

/** The problems that do not pass. */
async function whenSettled(look: () => Promise<readonly string[]>): Promise<readonly string[]> {
  let found: readonly string[] = [];
  await until('nothing to be found', async () => (found = await look()).length === 0, FOLLOWED_MS).catch(
    () => undefined,
  );
  return found;
}
