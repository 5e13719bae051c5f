import { readRecord } from '@pf/contracts';
import { isDepositEventType, isPublicType } from '@pf/domain';
import {
  type Cluster,
  hasValidSignature,
  type LogContents,
  readSettledLog,
  until,
  type WebhookReceiver,
} from '@pf/testing';
import { readArchive } from '../drill/evidence.ts';
import { PAYMENT, type Promised } from './load.ts';

/** What was found after a run. */
export interface Verdict {
  /** Broken promises, in words. Empty: nothing was lost, nothing happened twice. */
  readonly problems: readonly string[];
  readonly events: number;
  /** Webhooks that came more than once; the contract allows it, a rollout need not cause it. */
  readonly repeatedWebhooks: number;
}

export interface Evidence {
  readonly cluster: Cluster;
  readonly promised: Promised;
  readonly receiver: WebhookReceiver;
  /** What the merchant got on chain, base units. */
  readonly received: bigint;
  /** Whether an archive service runs. */
  readonly archived?: boolean;
}

const WAIT_MS = 60_000;

/**
 * Reads the whole log when all has settled, and compares it with what clients were told, the projection, the webhooks,
 * the streams and the chain.
 */
export async function judge({ cluster, promised, receiver, received, archived }: Evidence): Promise<Verdict> {
  const contents = await readSettledLog(cluster, WAIT_MS);
  const expected = new Set(
    [
      ...contents.events.filter(({ type }) => isPublicType(type)),
      ...contents.depositEvents.filter(({ type }) => isDepositEventType(type)),
    ].map(({ eventId }) => eventId),
  );
  const problems = [...contents.problems, ...promisesBroken(contents, promised)];

  const came = (): ReadonlySet<string> => new Set(receiver.received.map(({ body }) => body.eventId));
  const missingOf = (): readonly string[] => {
    const there = came();
    return [...expected].filter((id) => !there.has(id));
  };
  // Those that did not come are counted below.
  await until('all webhooks', () => missingOf().length === 0, WAIT_MS).catch(() => undefined);
  const missing = missingOf();
  if (missing.length > 0) problems.push(`${missing.length} webhooks never came, ${missing[0]} among them`);
  const unknown = [...came()].filter((id) => !expected.has(id));
  if (unknown.length > 0) problems.push(`${unknown.length} webhooks are of no event of the log`);
  const unsigned = receiver.received.filter((webhook) => !hasValidSignature(webhook, cluster.webhookSecrets.test));
  if (unsigned.length > 0) problems.push(`${unsigned.length} webhooks have a wrong signature`);

  const due = BigInt(promised.paid.size) * PAYMENT.units;
  if (received !== due) problems.push(`the merchant got ${received} base units, and should have ${due}`);
  if (archived) problems.push(...(await archiveProblems(cluster, contents)));
  return {
    problems,
    events: contents.events.length + contents.depositEvents.length,
    repeatedWebhooks: receiver.received.length - came().size,
  };
}

/** The archive has each event of the log, once. */
async function archiveProblems(cluster: Cluster, { events, depositEvents }: LogContents): Promise<readonly string[]> {
  const logged = [...events, ...depositEvents].map(({ eventId }) => eventId).sort();
  let archived: readonly string[] = [];
  const isWhole = async (): Promise<boolean> => {
    archived = (await readArchive({ cluster })).events.map((event) => readRecord(event).eventId).sort();
    return archived.length === logged.length && archived.every((id, place) => id === logged[place]);
  };
  return until('the archive to have the whole log', isWhole, WAIT_MS).then(
    () => [],
    (error: unknown) => [`the archive has ${archived.length} events, the log ${logged.length}: ${String(error)}`],
  );
}

function promisesBroken({ events }: LogContents, promised: Promised): readonly string[] {
  const problems: string[] = [];
  const ofIntent = Map.groupBy(events, ({ intentId }) => intentId as string);
  const typesOf = (id: string, type: string): number =>
    ofIntent.get(id)?.filter((event) => event.type === type).length ?? 0;
  const once = (type: string, ids: Iterable<string>): void => {
    for (const id of ids) if (typesOf(id, type) !== 1) problems.push(`${id} has ${typesOf(id, type)} times ${type}`);
  };
  const byKey = Map.groupBy(
    events.filter(({ type }) => type === 'intent.created'),
    ({ intent }) => intent.idempotencyKey ?? '',
  );
  for (const [key, id] of promised.created) {
    const ids = byKey.get(key)?.map(({ intentId }) => intentId) ?? [];
    if (ids.length !== 1 || ids[0] !== id)
      problems.push(`${key} was answered with ${id}, the log has ${ids.join(', ') || 'nothing'}`);
  }
  once('intent.detected', promised.detected);
  once('intent.cancelled', promised.cancelled);
  once('intent.updated', promised.updated.keys());
  for (const [id, order] of promised.updated) {
    const last = ofIntent.get(id)?.findLast(({ type }) => type === 'intent.updated');
    const kept = last?.intent.metadata?.['order'];
    if (kept !== order) problems.push(`${id} was updated to ${order}, the log has ${String(kept)}`);
  }
  for (const type of ['intent.pending', 'intent.confirmed', 'intent.finalized']) once(type, promised.paid.keys());
  for (const [id, { events: seen }] of promised.paid) {
    // The snapshot came first, and may have been of any version so far.
    const first = seen[0]?.version ?? 0;
    const shown = seen.map(({ version, type }) => `${version} ${type}`).join(', ');
    const happened = (ofIntent.get(id) ?? [])
      .filter(({ type, version }) => isPublicType(type) && version >= first)
      .map(({ version, type }) => `${version} ${type}`)
      .join(', ');
    if (shown !== happened) problems.push(`the stream of ${id} showed ${shown}; what happened is ${happened}`);
  }
  const extra = events.filter(({ type }) => type === 'intent.extra_payment' || type === 'intent.mismatched_payment');
  for (const { intentId, type } of extra) problems.push(`${intentId}: ${type}`);
  return problems;
}
