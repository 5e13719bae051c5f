import { z } from 'zod';
import type { WebhookReceiver } from '@pf/testing';
import { type AccountChanges, makeChanges } from './accounts.ts';
import type { DrillRig } from './rig.ts';

const KEEPS_READING = ['intent', 'watcher', 'webhook', 'archive'] as const;
const NETWORK = 'base-sepolia';
/** `pf log verify` names no more of a partition. */
const NAMED_MAX = 100;
const verified = z.object({
  partitions: z.array(z.object({ differing: z.array(z.string()), problems: z.array(z.string()) })),
});

/** The steps of a runbook as they were taken. */
export class Steps {
  readonly taken: { readonly step: string; readonly seconds: number }[] = [];
  readonly #say: (line: string) => void;

  constructor(say: (line: string) => void) {
    this.#say = say;
  }

  async take<T>(step: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    const seconds = (performance.now() - began) / 1_000;
    this.taken.push({ step, seconds });
    this.#say(`  ${step}: ${seconds.toFixed(1)} s`);
    return result;
  }
}

/** What the repair needs to know, as an operator does. */
export interface Incident {
  /** The public key of the archive, written down before. */
  readonly archiveKey: string;
  /** A time for `pf positions reset --since`. */
  readonly since: string;
  /** A block before the incident. */
  readonly fromBlock: bigint;
}

/** What `pf log verify` says. */
export async function verifyLog(rig: DrillRig): Promise<z.infer<typeof verified>['partitions']> {
  const { answer, errors } = await rig.pf('log', 'verify');
  const found = verified.safeParse(answer);
  if (!found.success) throw new Error(`\`pf log verify\` says: ${errors}`);
  return found.data.partitions;
}

/**
 * docs/operations/log-set-back.md: the log again from the archive, and the projection and the positions from it.
 * Resolves when the services run.
 * @param prepare before the import, when all services that write or read have ended
 * @returns the intents that Postgres knew more of than the log; null where the command did not name all of them
 */
export async function repairLog(
  rig: DrillRig,
  steps: Steps,
  { archiveKey, since, fromBlock }: Incident,
  prepare: () => Promise<void>,
): Promise<readonly string[] | null> {
  await steps.take('end intent, watcher, webhook, archive', () => rig.services.end(KEEPS_READING));
  await prepare();
  await steps.take('pf log import', () => rig.mustPf('log', 'import', '--key', archiveKey));
  const before = await steps.take('pf log verify', () => verifyLog(rig));
  await steps.take('pf log rebuild --all --accept-log', () => rig.mustPf('log', 'rebuild', '--all', '--accept-log'));
  await steps.take('pf positions reset', () => rig.mustPf('positions', 'reset', '--since', since));
  await steps.take('start the services', () => {
    const others = rig.services.url('gateway') === null ? (['gateway'] as const) : [];
    return rig.services.start([...KEEPS_READING, ...others], rig.options());
  });
  await steps.take('pf watch rescan', () => rescan(rig, fromBlock));
  return before.some(({ differing }) => differing.length >= NAMED_MAX)
    ? null
    : before.flatMap(({ differing }) => differing);
}

const listed = z.object({ keys: z.array(z.object({ id: z.string(), revokedAt: z.string().nullable() })) });

/** Whether a key counts as valid. */
async function isTaken(rig: DrillRig, id: string): Promise<boolean> {
  const { keys } = listed.parse(await rig.mustPf('keys', 'list'));
  return keys.some((key) => key.id === id && key.revokedAt === null);
}

/**
 * docs/operations/database-set-back.md: Postgres from its backup, without a service that would honor what it has
 * forgotten or send what was sent.
 * @returns the secret that signs webhooks from now on
 */
export async function restoreDatabase(
  rig: DrillRig,
  steps: Steps,
  { restore, changes, removed }: { restore: () => Promise<void>; changes: AccountChanges; removed: WebhookReceiver },
): Promise<string> {
  await steps.take('end gateway, webhook', () => rig.services.end(['gateway', 'webhook']));
  await steps.take('restore Postgres', restore);
  if (!(await isTaken(rig, changes.revoked.id)))
    throw new Error('The disaster has lost nothing: the backup has what was changed after it.');
  const { secret } = await steps.take('pf keys revoke, webhooks rotate-secret, webhooks remove', () =>
    makeChanges(rig, changes.revoked.id, removed),
  );
  return secret;
}

export async function rescan(rig: DrillRig, fromBlock: bigint): Promise<void> {
  await rig.mustPf('watch', 'rescan', '--network', NETWORK, '--from', String(fromBlock));
}
