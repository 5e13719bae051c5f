import { intentEvent, writeCursor } from '@pf/contracts';
import {
  ATTENTION_ADVICE,
  ATTENTION_DONE_BY,
  type AttentionKind,
  EVENTS_INTENTS_MAX,
  type Role,
} from '@pf/contracts/dashboard';
import {
  type Database,
  findPaymentAttention,
  type IntentOwner,
  likelyIntents,
  listAttention,
  listDoneAttention,
  listRequestRecords,
  markAttentionDone,
  newestEvents,
  type PaymentAttentionRow,
  reopenAttention,
  type StatusClass,
} from '@pf/database';
import { pageOf, positionOf } from '@pf/http';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';
import { depositOf, shownAttention } from './attention.ts';
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
  /** @throws DashboardError `attention.not_found` */
  const paymentOf = async (owner: IntentOwner, id: string): Promise<PaymentAttentionRow> => {
    const item = await findPaymentAttention(database, owner, id);
    if (!item) throw new DashboardError('attention.not_found');
    return item;
  };
  /** A payment that this role may mark. @throws DashboardError */
  const markable = async (owner: IntentOwner, id: string, role: Role): Promise<PaymentAttentionRow> => {
    const item = await paymentOf(owner, id);
    const roles: readonly Role[] = ATTENTION_DONE_BY[item.kind];
    if (!roles.includes(role)) throw new DashboardError('role.insufficient', { details: { roles } });
    return item;
  };
  return {
    async getSummary({ account, livemode, query: { range } }) {
      return summaries.of({ accountId: account.id, livemode }, range);
    },
    async followAccount({ account, livemode, signal }) {
      return notices.follow({ accountId: account.id, livemode }, signal);
    },
    async listAttention({ account, livemode, query: { limit, cursor, kind = allKinds, state } }) {
      const owner = { accountId: account.id, livemode };
      const list = state === 'open' ? listAttention : listDoneAttention;
      const found = await list(database, owner, [...new Set(kind)], positionOf({ cursor }), limit + 1);
      const { rows, hasMore, nextCursor } = pageOf(found, limit, ({ at, doneAt, id }) =>
        writeCursor({ createdAt: (doneAt ?? at).getTime(), id }),
      );
      const deposits = rows.map(depositOf);
      const likely = await likelyIntents(
        database,
        owner,
        deposits.filter((deposit) => deposit !== null),
      );
      const attention = rows.map((row, index) => shownAttention(row, deposits[index], likely));
      return { attention, hasMore, nextCursor };
    },
    async markAttentionDone({ account, by, livemode, param, person: { userId } }) {
      const owner = { accountId: account.id, livemode };
      const item = await markable(owner, param('itemId'), account.role);
      await markAttentionDone(database, { owner, item, userId, at: new Date(now()) }, by);
      return { item: shownAttention(await paymentOf(owner, item.id)) };
    },
    async reopenAttention({ account, by, livemode, param }) {
      const owner = { accountId: account.id, livemode };
      const item = await markable(owner, param('itemId'), account.role);
      await reopenAttention(database, { owner, item }, by);
      return { item: shownAttention(await paymentOf(owner, item.id)) };
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
