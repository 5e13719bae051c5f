import { isDepositEvent, partitionOf, readRecord } from '@pf/contracts';
import { Ledger, openStore } from '@pf/archive';
import { isDepositEventType, isPublicType, type IntentId } from '@pf/domain';
import type { Cluster } from '@pf/testing';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { Acknowledged } from './load.ts';
import type { DrillRig } from './rig.ts';

/** What the archive had when the log was lost. */
export interface Archived {
  /** The events, byte for byte. */
  readonly events: readonly string[];
  /** By partition the time of its last event, ms since 1970. */
  readonly heads: ReadonlyMap<number, number>;
}

const rows = z.array(z.object({ partition: z.number(), event: z.string() }));

/** Reads the archive as an analyst does. */
export async function readArchive({ cluster }: { readonly cluster: Pick<Cluster, 'archive'> }): Promise<Archived> {
  const ledger = await Ledger.open(openStore(pathToFileURL(cluster.archive)));
  try {
    const answer = await ledger.query('SELECT partition, event FROM events ORDER BY partition, log_offset');
    const found = rows.parse(answer.rows);
    return {
      events: found.map(({ event }) => event),
      heads: new Map(found.map(({ partition, event }) => [partition, Date.parse(readRecord(event).at)])),
    };
  } finally {
    ledger.close();
  }
}

/** An event of the log as the checks need it. */
export interface Logged {
  readonly eventId: string;
  /** Of an intent, or of a deposit. */
  readonly intentId: string;
  readonly type: string;
  readonly isPublic: boolean;
  /** ms since 1970. */
  readonly at: number;
  readonly text: string;
}

/** Every committed event of the log. */
export async function readLog(rig: DrillRig): Promise<readonly Logged[]> {
  const log = rig.log();
  const reader = await log.reader('drill');
  const events: Logged[] = [];
  try {
    for (const [partition, end] of (await reader.endOffsets('intent.events')).entries())
      for await (const { records } of reader.read('intent.events', partition, 0n, end))
        for (const { value } of records) {
          const text = value ?? '';
          const event = readRecord(text);
          const { eventId, type } = event;
          const intentId = isDepositEvent(event) ? event.depositId : event.intentId;
          const isPublic = isPublicType(type) || isDepositEventType(type);
          events.push({ eventId, intentId, type, isPublic, at: Date.parse(event.at), text });
        }
  } finally {
    await reader.close();
  }
  return events;
}

/** What was acknowledged and is not in the log. */
export function missing(acknowledged: readonly Acknowledged[], log: readonly Logged[]): readonly Acknowledged[] {
  const known = new Set(log.map(({ intentId, type }) => `${intentId} ${type}`));
  return acknowledged.filter(({ intentId, type }) => !known.has(`${intentId} ${type}`));
}

/** Those of the missing that the archive had, as far as the times of its last events show. */
export function beforeHeads(lost: readonly Acknowledged[], { heads }: Archived): readonly Acknowledged[] {
  return lost.filter(({ intentId, at }) => at < (heads.get(partitionOf(intentId as IntentId)) ?? 0));
}
