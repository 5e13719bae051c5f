import { intentEvent, writeCursor } from '@pf/contracts';
import { ATTENTION_ADVICE, type AttentionKind, EVENTS_INTENTS_MAX } from '@pf/contracts/dashboard';
import { type Database, listAttention, listRequestRecords, newestEvents, type StatusClass } from '@pf/database';
import { pageOf, positionOf } from '@pf/http';
import type { Endpoints } from '../endpoint.ts';
import { shownAttention } from './attention.ts';
import type { AccountNotices } from './notices.ts';
import { shownRequest } from './requests.ts';
import { Summaries, tokensOf } from './summaries.ts';

/** The endpoints that tell how the payments of an account go. */
export function insightEndpoints({
  database,
  notices,
  now,
}: {
  readonly database: Database;
  readonly notices: AccountNotices;
  readonly now: () => number;
}): Endpoints<'Insights'> {
  const allKinds = Object.keys(ATTENTION_ADVICE) as AttentionKind[];
  const summaries = new Summaries(database, now);
  return {
    async getSummary({ account, livemode, query: { range } }) {
      return { summary: await summaries.of({ accountId: account.id, livemode }, range) };
    },
    async followAccount({ account, livemode, signal }) {
      return notices.follow({ accountId: account.id, livemode }, signal);
    },
    async listAttention({ account, livemode, query: { limit, cursor, kind = allKinds } }) {
      const owner = { accountId: account.id, livemode };
      const found = await listAttention(database, owner, [...new Set(kind)], positionOf({ cursor }), limit + 1);
      const { rows, hasMore, nextCursor } = pageOf(found, limit, ({ at, id }) =>
        writeCursor({ createdAt: at.getTime(), id }),
      );
      return { attention: rows.map(shownAttention), hasMore, nextCursor };
    },
    async listRequests({ account, livemode, query: { limit, cursor, status, keyId, intentId } }) {
      const owner = { accountId: account.id, livemode };
      const statusClass = status === undefined ? undefined : (Number(status[0]) as StatusClass);
      const found = await listRequestRecords(
        database,
        owner,
        { statusClass, keyId, intentId },
        { after: positionOf({ cursor }), limit: limit + 1, now: now() },
      );
      const { rows, hasMore, nextCursor } = pageOf(found, limit, ({ at, id }) =>
        writeCursor({ createdAt: at.getTime(), id }),
      );
      return { requests: rows.map(shownRequest), hasMore, nextCursor };
    },
    async listEvents({ account, livemode, query: { limit, type } }) {
      const owner = { accountId: account.id, livemode };
      const tokens = tokensOf(livemode).map(({ address }) => address);
      const bodies = await newestEvents(database, owner, { tokens, intents: EVENTS_INTENTS_MAX, type, limit });
      return { events: bodies.map((body) => intentEvent.parse(JSON.parse(body))) };
    },
  };
}
