import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { ATTENTION_ADVICE, type AttentionKind } from '@pf/contracts/dashboard';
import type { AccountId, ChainId } from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { openRoleLogins, until } from '@pf/testing';
import type pg from 'pg';
import {
  acceptInvitation,
  accountKeys,
  accountOfIntent,
  createAccountKey,
  createPersonalToken,
  beginDeviceRequest,
  claimDeviceToken,
  decideDeviceRequest,
  openDeviceRequest,
  findTokenHolder,
  personalTokens,
  revokePersonalToken,
  roleWithToken,
  listKeys,
  recordKeyUses,
  acquireLanes,
  auditEntries,
  type AuditSource,
  answerOnce,
  cancelReplay,
  coldByBundle,
  coldVersions,
  addWebhookEndpoint,
  BY_INDEX,
  changeMember,
  countAttempts,
  countFailedDeliveries,
  countOutstanding,
  createKey,
  createReplay,
  createOwnedAccount,
  compareSecretsKey,
  createStore,
  type Database,
  DATABASE_ROLES,
  type DatabaseRole,
  EndedDeliveries,
  endSession,
  findIntent,
  findKeyHolder,
  findMerchant,
  forgetAnswers,
  forgetAttempts,
  forgetAuditEntries,
  forgetDeliveries,
  forgetExpired,
  forgetUnconfirmedPeople,
  forgetOutcomes,
  forgetRemovedEndpoints,
  forgetReplays,
  forgetRequestRecords,
  forgetSurplus,
  surplusDeliveries,
  grantRights,
  hashApiKey,
  intentEvents,
  forgetMissedEvents,
  inTransaction,
  isDatabaseUnavailable,
  changePassword,
  invite,
  isRemembered,
  personOfResetLink,
  rememberKey,
  resetPassword,
  listAccounts,
  listAttention,
  listDoneAttention,
  findPaymentAttention,
  hasPassword,
  identitiesOf,
  linkIdentity,
  personOfIdentity,
  markAttentionDone,
  reopenAttention,
  listDeliveries,
  listIntents,
  listReplays,
  listRequestRecords,
  lookAtIntents,
  nextReplayStep,
  listMembers,
  memberAccount,
  newestPaid,
  membershipsOf,
  openAccount,
  openDatabase,
  openInvitations,
  outstandingLanes,
  type LogSource,
  readToldOf,
  rebuildProjection,
  recordPersonalChange,
  releaseLanes,
  rememberHealth,
  renameAccount,
  settleAttempts,
  settleErasures,
  removeWebhookEndpoint,
  retryDelivery,
  revokeKey,
  requestedErasures,
  requestOldErasures,
  ROLE_DEFINITIONS,
  roleInSession,
  sessionsOf,
  sumIntents,
  setPlan,
  stepReplay,
  stepCatchUp,
  storeRequestRecords,
  UnscreenedPayments,
  verifyProjection,
  disableFailingEndpoint,
  dueDeliveries,
  EventSealer,
  webhookSecrets,
  withdrawInvitation,
  accountOfPaymentLink,
  cancelPaymentLink,
  chooseOffer,
  createPaymentLink,
  expirePaymentLinks,
  findPaymentLink,
  findPaymentLinkAccount,
  listPaymentLinks,
  takeIntentsToCancel,
  unlinkIdentity,
  UNSPLIT,
} from '../../src/index.ts';
import { keepMissed } from '../../src/webhooks/catch-ups.ts';
import { createOwnDatabase, type OwnDatabase } from '../own-database.ts';
import { kedaQuery } from '../webhooks/keda-query.ts';

const CHAIN = 'eip155:84532' as ChainId;
const SECRETS_KEY = randomBytes(32);
const DENIED = '42501';
const BY: AuditSource = {
  kind: 'operator',
  id: null,
  name: 'test',
  address: null,
  userAgent: null,
  requestId: null,
};
const emptyLog: LogSource = {
  end: () => Promise.resolve(0n),
  read: async function* () {
    // An empty partition.
  },
};

/** On the server, as the gateway. A client hears of a statement's end a moment before the server has put it away. */
const noStatementRuns = ({ database }: OwnDatabase): Promise<true> =>
  until('the server to be done', async () => {
    const { rowCount } = await database.sql.query(
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND usename = 'pf_gateway' AND state <> 'idle'`,
    );
    return rowCount === 0;
  });

describe('the roles of the database', () => {
  let own: OwnDatabase;
  let accountId: AccountId;
  let apiKey: string;
  let deliveryId: string;
  let endpointId: string;
  const intentId = newIntentId(0);
  const as = {} as Record<DatabaseRole, Database>;
  const now = new Date();
  const owner = () => ({ accountId, livemode: false });

  beforeAll(async () => {
    own = await createOwnDatabase();
    expect(await grantRights(own.url)).toEqual([]);
    const logins = await openRoleLogins(own.url);
    for (const role of DATABASE_ROLES) as[role] = openDatabase({ url: logins?.[role] ?? '', applicationName: role });

    const { database } = own;
    ({
      id: accountId,
      apiKeys: { test: apiKey },
    } = await openAccount(database, SECRETS_KEY, { name: 'roles' }));
    await addWebhookEndpoint(database, { ...owner(), url: 'https://shop.example/hooks' });
    const { webhooks } = createStore(database);
    await webhooks.positions([1]);
    const event = {
      eventId: `evt_${intentId}`,
      eventType: 'intent.created',
      intentId,
      version: 1,
      ...owner(),
      traceparent: null,
      requestId: null,
    };
    await database.sql.query(
      `INSERT INTO ledger.intent_events (intent_id, version, event_id, type, body, at)
        VALUES ($1, 1, $2, 'intent.created', '{}', now())`,
      [intentId, event.eventId],
    );
    const batch = { partition: 1, from: 0n, next: 1n, events: [event] };
    const [delivery] = (await webhooks.recordDeliveries([batch], now)).due;
    ({ id: deliveryId, endpointId } = delivery ?? { id: '', endpointId: '' });
  });
  afterAll(async () => {
    await Promise.all(Object.values(as).map((database) => database.close()));
    await own.close();
  });

  const transaction = () => ({ intentId, chain: CHAIN, hash: '0xabc' as never, bytes: Buffer.from('signed') });
  /** In the mode in which the account has no URL. */
  const elsewhere = () => ({ ...owner(), livemode: !owner().livemode });
  const anOpenLink = async (database: Database): Promise<string> => {
    const offer = { chain: CHAIN, token: 'USDC', tokenAddress: '0x' as never, requestor: '0x' as never };
    const { id } = await inTransaction(database, (client) =>
      createPaymentLink(client, elsewhere(), { amount: '1', offers: [offer], ttlSeconds: 60, metadata: null }, now),
    );
    return id;
  };
  const aRequest = (at: number) => ({
    ...owner(),
    at: new Date(at),
    method: 'GET',
    route: '/v1/intents',
    path: '/v1/intents',
    status: 200,
    errorCode: null,
    keyId: 'key_1',
    userId: null,
    intentId,
    durationMs: 1,
    requestId: 'req_1',
    omitted: 0,
  });
  const payment = { chain: CHAIN, hash: '0xdef' as never, sender: '0x5e' as never, intentId };
  /** Everything that each program does in the database: its code, with its rights. */
  const WORK: Readonly<Record<DatabaseRole, (database: Database) => Promise<void>>> = {
    async pf_gateway(database) {
      expect(await findKeyHolder(database, hashApiKey(apiKey))).toMatchObject({ accountId });
      const [used] = await listKeys(own.database, owner());
      await recordKeyUses(database, new Map([[used?.id ?? '', now]]));
      const { intents, signedTransactions } = createStore(database);
      await intents.findIntent(intentId, owner());
      await intents.findIntentByKey('key', owner(), 0);
      await intents.findOutcomes([randomUUID() as never]);
      await intents.findReported(samples.landing(samples.UNKNOWN), owner(), intentId, 0);
      await intentEvents(database, intentId, 0, 100);
      await lookAtIntents(database, [{ id: intentId, known: 0, after: 0 }]);
      await listIntents(database, owner(), {}, null, 10);
      await listIntents(database, owner(), { metadata: { order: '1' } }, null, 10);
      await signedTransactions.keep(transaction());
      await signedTransactions.keep(transaction());
      expect((await signedTransactions.find(CHAIN, [transaction().hash])).size).toBe(1);
      expect(await listDeliveries(database, owner(), {}, null, 10)).toHaveLength(1);
      expect(await retryDelivery(database, { deliveryId, ...owner(), at: now })).not.toBeNull();
      const request = { ...owner(), operation: 'test', idempotencyKey: 'key' };
      await answerOnce(database, SECRETS_KEY, request, now, () => Promise.resolve({}));
      const all = { endpointId: null, toEndpointId: null, eventTypes: null, status: 'all' as const };
      const replay = await inTransaction(database, (client) =>
        createReplay(client, owner(), { ...all, since: new Date(0), until: now }, now),
      );
      expect(await listReplays(database, owner(), null, 10)).toEqual([replay]);
      expect(await cancelReplay(database, owner(), replay?.id ?? '', now)).toMatchObject({ state: 'cancelled' });
      const link = await anOpenLink(database);
      const choice = await chooseOffer(database, elsewhere(), {
        id: link,
        offer: 0,
        newIntentId: newIntentId(0),
        at: now,
      });
      expect(choice).toMatchObject({ kind: 'begun', isNew: true });
      expect((await listPaymentLinks(database, elsewhere(), null, 10)).rows).toHaveLength(1);
      // What this mode's endpoint is told of links is kept for it, as it is behind.
      const behind = await addWebhookEndpoint(own.database, { ...elsewhere(), url: 'https://behind.example/' });
      await own.database.sql.query(
        `INSERT INTO service.webhook_catch_ups (endpoint_id, account_id, livemode, next_seq, since, look_at, page)
         VALUES ($1, $2, $3, 1, $4, $4, 32)`,
        [behind?.id, accountId, elsewhere().livemode, now],
      );
      expect(await findPaymentLinkAccount(database, link, elsewhere().livemode)).toMatchObject({ accountId });
      expect(await cancelPaymentLink(database, elsewhere(), link, now)).toMatchObject({ link: { state: 'cancelled' } });
      expect(await takeIntentsToCancel(database, now, 10)).toHaveLength(1);
      await anOpenLink(database);
      const ended = await expirePaymentLinks(database, new Date(now.getTime() + 3_600_000), 10);
      expect(ended).toEqual({ told: [], failed: new Map() });
      const { rowCount } = await own.database.sql.query('SELECT FROM service.missed_events');
      expect(rowCount).toBe(2);
      await own.database.sql.query('DELETE FROM service.missed_events');
      await own.database.sql.query('DELETE FROM service.webhook_endpoints WHERE id = $1', [behind?.id]);
      await storeRequestRecords(database, [aRequest(now.getTime() - 8 * 86_400_000), aRequest(now.getTime())]);
    },
    async pf_intent(database) {
      const { ledger } = createStore(database);
      const { position } = await ledger.checkpoint(0);
      const batch = { partition: 0, from: position, next: position + 1n, lastAt: 1, intents: [], events: [] };
      const outcome = { commandId: randomUUID(), result: 'accepted' } as never;
      expect(await ledger.project({ ...batch, outcomes: [{ outcome, at: 1 }] })).toBe(true);
      const key = { ...owner(), idempotencyKey: 'key' };
      await ledger.lookUp({ partition: 0, ids: [intentId], keys: [key], commandIds: [randomUUID() as never] });
      await ledger.overdue([0], 1, 10, new Map());
      expect(await forgetOutcomes(database, 2, 10)).toBe(1);
      await compareSecretsKey(database, SECRETS_KEY);
      const sealer = new EventSealer(database, SECRETS_KEY);
      await sealer.renew(now.getTime());
      await own.database.sql.query('INSERT INTO service.erasures (intent_id, partition) VALUES ($1, 0)', [intentId]);
      expect((await requestedErasures(database, [0], 10, new Map())).get(0)).toHaveLength(1);
      expect(await requestOldErasures(database, now, 10)).toBe(0);
      const erased = { ...batch, from: position + 1n, next: position + 2n, outcomes: [], erased: [intentId] };
      await own.database.sql.query(
        `UPDATE ledger.intent_events SET body = '{"data":{"intent":{"id":"pi_1","metadata":null}}}'`,
      );
      expect(await ledger.project(erased)).toBe(true);
      await settleErasures(database, [intentId]);
      expect((await requestedErasures(database, [0], 10, new Map())).size).toBe(0);
    },
    async pf_watcher(database) {
      const { signedTransactions, watchedIntents, watches } = createStore(database);
      await watchedIntents.load([CHAIN], 0, () => undefined, UNSPLIT);
      await watchedIntents.find([newIntentId(0)]);
      const until = now.getTime();
      const wallet = { chain: CHAIN, recipient: payment.sender, accountId: owner().accountId, since: 0, until };
      await watchedIntents.keepWallets([wallet]);
      await watchedIntents.keepWallets([wallet]);
      const kept: unknown[] = [];
      await watchedIntents.wallets([CHAIN], 0, UNSPLIT, (one) => kept.push(one));
      expect(kept).toEqual([wallet]);
      await watchedIntents.forgetWallets([CHAIN], until + 1);
      const named = { chain: CHAIN, livemode: false, wallet: payment.sender };
      expect((await readToldOf(database, named, [owner().accountId], 0, [transaction().hash])).told).toEqual([]);
      const lease = await watches.acquire(CHAIN, UNSPLIT, 'me', 600_000);
      if (!lease) throw new Error('no lease');
      expect([await watches.renew(lease, 600_000), await watches.moveCursor(lease, {})]).toEqual([true, true]);
      await watches.release(lease);
      expect((await signedTransactions.find(CHAIN, [transaction().hash])).size).toBe(1);
      await signedTransactions.keep(transaction());
      expect(await signedTransactions.forget(CHAIN, UNSPLIT, Date.now() + 60_000, [], [])).toBe(1);
      const payments = new UnscreenedPayments(database);
      const noted = { ...payment, ...owner() };
      await payments.note([noted, { ...noted, sender: '0x5f' as never }]);
      expect(await payments.waiting([CHAIN], 10)).toHaveLength(2);
      await payments.clear({ ...payment, sender: '0x5f' as never });
      expect(await payments.flag(payment, {})).toBe(true);
    },
    async pf_webhook(database) {
      const later = new Date(now.getTime() + 3_600_000);
      const { webhooks } = createStore(database);
      expect((await webhooks.positions([1, 2])).size).toBe(2);
      const moved = new Set([2]);
      const empty = { partition: 2, from: 0n, next: 1n, events: [] };
      expect(await webhooks.recordDeliveries([empty], now)).toEqual({ moved, due: [] });
      const link = await anOpenLink(own.database);
      const paid = newIntentId(0);
      await chooseOffer(own.database, elsewhere(), { id: link, offer: 0, newIntentId: paid, at: now });
      const confirmed = {
        eventId: `evt_${paid}`,
        eventType: 'intent.confirmed',
        intentId: paid,
        version: 3,
        ...elsewhere(),
        traceparent: null,
        requestId: null,
      };
      const batch = { partition: 2, from: 1n, next: 2n, events: [confirmed] };
      expect(await webhooks.recordDeliveries([batch], now)).toEqual({ moved, due: [] });
      expect(await findPaymentLink(own.database, elsewhere(), link)).toMatchObject({ state: 'paid', paidBy: paid });
      expect(await outstandingLanes(database, now)).toHaveLength(1);
      expect(await webhookSecrets(database, SECRETS_KEY, owner())).toHaveLength(1);
      expect((await countOutstanding(database, now, 10)).due).toBe(1);
      const lease = { holder: 'me', now, until: now };
      expect(await acquireLanes(database, [endpointId], lease)).toHaveLength(1);
      const [delivery] = await dueDeliveries(database, [{ endpointId, count: 1 }], [], now);
      if (!delivery) throw new Error('nothing is due');
      const result = { durationMs: 1, responseStatus: 410, responseStart: '', reason: 'gone', next: null };
      await settleAttempts(database, [{ ...delivery, ...result, at: now }]);
      await rememberHealth(database, [{ endpointId, failingSince: now }]);
      const missed = {
        event: {
          eventId: 'evt_missed',
          eventType: 'webhook_endpoint.disabled',
          intentId: null,
          version: null,
          ...owner(),
          traceparent: null,
          requestId: null,
          body: '{}',
        },
        by: [{ endpointId, known: false }],
      };
      await inTransaction(database, (client) => keepMissed(client, [missed], now));
      expect(await stepCatchUp(database, now)).toEqual({ endpointId, made: 1 });
      expect(await forgetMissedEvents(database, later, 10)).toBe(0);
      await disableFailingEndpoint(database, { endpointId, by: 'gone', at: now });
      expect((await releaseLanes(database, [{ endpointId, heldUntil: null }], lease)).size).toBe(1);
      expect(await forgetDeliveries(database, { createdBefore: later, endedBefore: later }, 10)).toBe(2);
      // Nothing was accepted.
      expect(await surplusDeliveries(database, 'free', 1).next()).toMatchObject({ done: true });
      expect(await forgetSurplus(database, { ...owner(), createdBefore: later }, later, 10)).toBe(0);
      await inTransaction(own.database, (client) =>
        createReplay(
          client,
          owner(),
          { since: new Date(0), until: later, endpointId: null, toEndpointId: null, eventTypes: null, status: 'all' },
          now,
        ),
      );
      while (await stepReplay(database, { now: later, perSecond: 1_000 }))
        expect(await nextReplayStep(database)).not.toBe(0);
      expect(await forgetReplays(database, new Date(later.getTime() + 1), 10)).toBeGreaterThan(0);
      expect(await forgetRemovedEndpoints(database, 10)).toBe(0);
      expect(await forgetAnswers(database, new Date(Date.now() + 60_000), 10)).toBe(1);
      // Not in the last hour of a day.
      const noon = Math.floor(now.getTime() / 86_400_000) * 86_400_000 + 43_200_000;
      expect(await forgetRequestRecords(database, noon)).toBe(true);
      expect(await codeOf(database, 'TRUNCATE service.request_records')).toBe(DENIED);
      await setPlan(own.database, accountId, 'free', BY);
      expect(await forgetAuditEntries(database, 10)).toBe(0);
      await own.database.sql.query(
        `INSERT INTO dashboard.audit_entries (id, actor_kind, actor_name, action, at)
         VALUES ('aud_old', 'operator', 'n', 'ledger.rebuilt', now() - interval '2 years 1 minute')`,
      );
      expect(await forgetAuditEntries(database, 10)).toBe(1);
      expect(await codeOf(database, `DELETE FROM dashboard.audit_entries WHERE at < now()`)).toBe(DENIED);
    },
    async pf_dashboard(database) {
      const { prisma } = database;
      const user = { id: 'usr_1', name: 'Olivia', email: 'olivia@shop.example' };
      // What the sign-in library does: with Prisma, on the tables that are its own.
      await prisma.user.create({ data: user });
      await prisma.user.update({ where: { id: user.id }, data: { emailVerified: true } });
      const credential = { id: 'c', accountId: user.id, providerId: 'credential', userId: user.id };
      await prisma.credential.create({ data: credential });
      await prisma.credential.update({ where: { id: 'c' }, data: { password: 'hash' } });
      const expiresAt = new Date(now.getTime() - 60_000);
      await prisma.session.create({ data: { id: 's', token: 't', userId: user.id, expiresAt } });
      await prisma.session.update({ where: { id: 's' }, data: { updatedAt: now } });
      expect(await sessionsOf(database, user.id, new Date(0))).toHaveLength(1);
      expect(await endSession(database, { userId: user.id, id: 'another' }, BY)).toBe(false);
      await prisma.verification.create({ data: { id: 'v', identifier: 'i', value: 'x', expiresAt } });
      await prisma.verification.update({ where: { id: 'v' }, data: { value: 'y' } });
      await prisma.twoFactor.create({ data: { id: 'f', secret: 's', backupCodes: 'b', userId: user.id } });
      await prisma.twoFactor.update({ where: { id: 'f' }, data: { verified: true } });
      await prisma.twoFactor.deleteMany({ where: { userId: user.id } });
      const own = await createOwnedAccount(database, { name: 'Shop', userId: user.id, max: 1 }, BY);
      expect(await createOwnedAccount(database, { name: 'Another', userId: user.id, max: 1 }, BY)).toBeNull();
      if (!own) throw new Error('no account');
      await renameAccount(database, own.id, 'Coffee bar', BY);
      const of = { accountId: own.id, userId: user.id };
      expect(await memberAccount(database, of)).toMatchObject({ name: 'Coffee bar', role: 'owner' });
      expect(await roleInSession(database, { ...of, sessionId: 's', at: new Date(0) })).toBe('owner');
      expect(await roleInSession(database, { ...of, sessionId: 's', at: now })).toBeNull();
      expect(await membershipsOf(database, user.id)).toHaveLength(1);
      expect(await changeMember(database, { ...of, role: null }, BY)).toBe('last_owner');
      expect(await changeMember(database, { ...of, role: 'owner' }, BY)).toBeNull();
      expect(await listMembers(database, { accountId: own.id })).toHaveLength(1);
      const invitation = { accountId: own.id, role: 'viewer', invitedBy: user.id, at: now, max: 2 } as const;
      const valid = { token: 'token', expiresAt: new Date(Date.now() + 60_000) };
      expect(await invite(database, { ...invitation, ...valid, email: user.email }, BY)).toBe('member');
      expect(await invite(database, { ...invitation, ...valid, email: 'v@shop.example' }, BY)).toMatchObject({
        role: 'viewer',
      });
      expect(await invite(database, { ...invitation, ...valid, token: 'b', email: 'w@shop.example' }, BY)).toBe('full');
      const acceptance = { token: 'token', userId: user.id, email: user.email, at: now, max: 2 };
      expect(await acceptInvitation(database, acceptance, BY)).toBe('invalid');
      const [open] = await openInvitations(database, own.id, now);
      expect(await withdrawInvitation(database, { accountId: own.id, id: open?.id ?? '' }, BY)).toBe(true);
      const newKey = {
        accountId: own.id,
        livemode: true,
        scope: 'full',
        name: 'Till',
        expiresAt: null,
        at: now,
      } as const;
      const session = { userId: user.id, proof: { kind: 'session', id: 's' }, at: new Date(0) } as const;
      const byOwner = { ...BY, id: user.id, right: { ...session, roles: ['owner'] } } as const;
      const made = await createAccountKey(database, { ...newKey, max: 1 }, byOwner);
      expect(await createAccountKey(database, { ...newKey, max: 1 }, BY)).toBeNull();
      expect(await accountKeys(database, own.id, now, 10)).toHaveLength(1);
      expect(await revokeKey(database, { accountId: own.id, keyId: made?.id ?? '', at: now }, BY)).not.toBeNull();
      const token = { userId: user.id, name: 'laptop', at: now, expiresAt: new Date(Date.now() + 60_000) };
      const held = await createPersonalToken(database, { ...token, max: 1 }, { ...BY, id: user.id });
      expect(await createPersonalToken(database, { ...token, max: 1 }, { ...BY, id: user.id })).toBeNull();
      expect(await personalTokens(database, user.id, now, 10)).toHaveLength(1);
      const tokenId = held?.id ?? '';
      expect(await findTokenHolder(database, held?.token ?? '', now)).toMatchObject({ tokenId, userId: user.id });
      expect(await roleWithToken(database, { ...of, tokenId, at: now })).toBe('owner');
      const asked = { clientName: 'pf', address: null, at: now, expiresAt: new Date(Date.now() + 60_000) };
      const [first, second] = [await beginDeviceRequest(database, asked), await beginDeviceRequest(database, asked)];
      expect(await openDeviceRequest(database, first.userCode, now)).toMatchObject({ clientName: 'pf' });
      const withToken = {
        ...BY,
        id: user.id,
        right: { userId: user.id, proof: { kind: 'token', id: tokenId }, at: now },
      } as const;
      const approval = { userCode: first.userCode, userId: user.id, decision: 'approved', at: now } as const;
      expect(await decideDeviceRequest(database, { ...approval, max: 1 }, BY)).toBe('full');
      expect(await decideDeviceRequest(database, { ...approval, max: 2 }, withToken)).toBeNull();
      const claim = { at: now, expiresAt: token.expiresAt, max: 2 };
      const claimed = await claimDeviceToken(database, { ...claim, deviceCode: first.deviceCode }, BY);
      expect(claimed).toMatchObject({ name: 'pf' });
      expect(await claimDeviceToken(database, { ...claim, deviceCode: second.deviceCode }, BY)).toBe('pending');
      const identity = { issuer: 'https://id.example', subject: 'sub' };
      const linking = { ...identity, name: 'Ida', email: 'ida@shop.example', began: now, at: now };
      expect(await linkIdentity(database, linking, BY)).toMatchObject({ isNew: true });
      const ida = await personOfIdentity(database, identity);
      expect(ida).toMatchObject({ email: linking.email });
      const userId = ida?.userId ?? '';
      expect(await hasPassword(database, userId)).toBe(false);
      const [linked] = await identitiesOf(database, userId);
      expect(await unlinkIdentity(database, { userId, identityId: linked?.id ?? '' }, BY)).toMatchObject(identity);
      const revocation = { userId: user.id, tokenId, at: now };
      expect(await revokePersonalToken(database, revocation, { ...BY, id: user.id })).not.toBeNull();
      await changePassword(database, { userId: user.id, hash: 'new', at: now }, { ...BY, id: user.id });
      expect(await roleWithToken(database, { ...of, tokenId, at: now })).toBeNull();
      await recordPersonalChange(database.sql, { ...BY, id: user.id }, { action: 'session.begun' });
      expect(await auditEntries(database, own.id, {}, null, 20)).toHaveLength(11);
      const link = { id: 'l', identifier: 'reset-password:token', value: user.id };
      await prisma.verification.create({ data: { ...link, expiresAt: new Date(Date.now() + 60_000) } });
      const person = await personOfResetLink(database, 'token', now);
      if (!person) throw new Error('the link is not known');
      const reset = { token: 'token', person, hash: 'newer', at: now };
      expect(await resetPassword(database, reset, BY)).toBe(true);
      expect(await resetPassword(database, reset, BY)).toBe(false);
      expect(await codeOf(database, 'SELECT hash FROM service.api_keys')).toBe(DENIED);
      const range = { tokens: ['0xa' as never], from: now, bucketMs: 3_600_000, max: 10 };
      expect((await sumIntents(database, owner(), range)).sums).toEqual([]);
      expect(await newestPaid(database, owner(), now, 10)).toEqual([]);
      expect(await countFailedDeliveries(database, owner(), now, 10)).toBe(0);
      const kinds = Object.keys(ATTENTION_ADVICE) as AttentionKind[];
      expect(await listAttention(database, owner(), kinds, null, 10)).toMatchObject([
        { kind: 'sanctioned_sender', intentId },
        { kind: 'endpoint_disabled', endpointId },
      ]);
      const [listed] = await listAttention(database, owner(), ['sanctioned_sender'], null, 1);
      const item = await findPaymentAttention(database, owner(), listed?.id ?? '');
      if (!item) throw new Error('the payment is not found by its id');
      await markAttentionDone(database, { owner: owner(), item, userId: user.id, at: now }, BY);
      expect(await listDoneAttention(database, owner(), kinds, null, 10)).toMatchObject([
        { id: item.id, doneBy: user.id },
      ]);
      await reopenAttention(database, { owner: owner(), item }, BY);
      expect(await codeOf(database, 'UPDATE dashboard.attention_done SET kind = kind')).toBe(DENIED);
      expect(await codeOf(database, 'SELECT finding FROM service.unasked_payments')).toBe(DENIED);
      const page = { after: null, limit: 10, now: now.getTime() };
      expect(await listRequestRecords(database, owner(), {}, page)).toHaveLength(1);
      const keys = [{ key: 'k', windowSeconds: 60 }];
      await countAttempts(database, keys, now);
      expect(await countAttempts(database, keys, now)).toMatchObject([{ key: 'k', count: 2 }]);
      await forgetAttempts(database, 'k');
      await rememberKey(database, 'place', new Date(0));
      expect(await isRemembered(database, 'place', now)).toBe(false);
      expect(await forgetExpired(database, now, 10)).toBe(2);
    },
    async pf_checkout(database) {
      expect(await accountOfIntent(database, newIntentId(0))).toBeNull();
      expect(await accountOfPaymentLink(database, 'pl_1')).toBeNull();
      expect(await findMerchant(database, accountId)).toMatchObject({ accountId, returnOrigins: [] });
      for (const statement of [
        'SELECT state FROM ledger.intents',
        'SELECT metadata FROM ledger.intents',
        'SELECT wallets FROM dashboard.account_settings',
        'SELECT plan FROM service.accounts',
        'SELECT amount FROM service.payment_links',
      ])
        expect([statement, await codeOf(database, statement)]).toEqual([statement, DENIED]);
    },
    async pf_archive(database) {
      const ended = new EndedDeliveries(database);
      await ended.look();
      await ended.look();
      expect((await ended.page(null, 10)).deliveries).toEqual(expect.any(Array));
      for (const column of ['url', 'body', 'response_body', 'request_id']) {
        const statement = `SELECT ${column} FROM service.deliveries`;
        expect([statement, await codeOf(database, statement)]).toEqual([statement, DENIED]);
      }
    },
    async pf_operator(database) {
      expect((await listAccounts(database)).map(({ id }) => id)).toContain(accountId);
      const other = await openAccount(database, SECRETS_KEY, { name: 'other' }, BY);
      await setPlan(database, other.id, 'growth', BY);
      const { id: keyId } = await createKey(database, { accountId: other.id, livemode: true }, BY);
      await revokeKey(database, { accountId: other.id, keyId }, BY);
      const url = 'https://other.example/hooks';
      await addWebhookEndpoint(database, { accountId: other.id, livemode: true, url }, BY);
      await removeWebhookEndpoint(database, { accountId: other.id, livemode: true, url, at: now }, BY);
      expect(await new UnscreenedPayments(database).flagged()).toHaveLength(1);
      await verifyProjection(database, 3, emptyLog);
      await rebuildProjection(database, 3, emptyLog);
    },
    async pf_monitor(database) {
      await database.sql.query(kedaQuery());
    },
  };

  it.each(DATABASE_ROLES)('%s may do what its program does', async (role) => {
    await WORK[role](as[role]);
  });

  const codeOf = async (database: Database, statement: string): Promise<unknown> =>
    database.sql.query(statement).then(
      () => 'done',
      (error: unknown) => (error as pg.DatabaseError).code,
    );

  it.each(DATABASE_ROLES)('%s has no right that it was not given', async (role) => {
    const { rows } = await own.database.sql.query<{ name: string; verb: string; allowed: boolean }>(
      `SELECT table_name.name, verb, has_table_privilege($1, table_name.name, verb)
                OR (verb IN ('SELECT', 'INSERT', 'UPDATE') AND has_any_column_privilege($1, table_name.name, verb))
                AS allowed
         FROM (SELECT schemaname || '.' || tablename AS name FROM pg_tables
                WHERE schemaname IN ('dashboard', 'ledger', 'service')) AS table_name,
              unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS verb`,
      [role],
    );
    const { rights, except = {} } = ROLE_DEFINITIONS[role];
    const given = (table: string, verb: string): boolean =>
      rights === 'all'
        ? (except[table] ?? ['SELECT', 'INSERT', 'UPDATE', 'DELETE']).includes(verb)
        : (rights[table] ?? []).some((right) => right.split(' ')[0] === verb);
    expect(rows.filter(({ name, verb, allowed }) => allowed !== given(name, verb))).toEqual([]);
    for (const statement of [
      'CREATE TABLE dashboard.mine ()',
      'CREATE TABLE ledger.mine ()',
      'CREATE TABLE service.mine ()',
      'CREATE TABLE public.mine ()',
      'CREATE SCHEMA mine',
      'ALTER TABLE ledger.intents ADD COLUMN mine text',
      'DROP TABLE ledger.intents',
      'CREATE INDEX ON ledger.intents (state)',
      'DELETE FROM public._prisma_migrations',
      'CREATE ROLE mine',
      ...(role === 'pf_operator' ? [] : ['CREATE TEMPORARY TABLE mine ()']),
    ])
      expect([statement, await codeOf(as[role], statement)]).toEqual([statement, DENIED]);
  });

  it('let the gateway write nothing in the ledger, and only the operator the accounts', async () => {
    for (const table of ['intents', 'intent_events', 'checkpoints']) {
      for (const statement of [`INSERT INTO ledger.${table} DEFAULT VALUES`, `DELETE FROM ledger.${table}`])
        expect([statement, await codeOf(as.pf_gateway, statement)]).toEqual([statement, DENIED]);
    }
    expect(await codeOf(as.pf_gateway, 'UPDATE service.deliveries SET url = url')).toBe(DENIED);
    for (const role of DATABASE_ROLES.filter((name) => name !== 'pf_operator')) {
      const statement = "UPDATE service.accounts SET plan = 'scale'";
      expect([role, await codeOf(as[role], statement)]).toEqual([role, DENIED]);
    }
  });

  it('let none change the audit log or delete from it, but the webhook service what is two years old', async () => {
    await setPlan(own.database, accountId, 'free', BY);
    for (const role of DATABASE_ROLES) {
      for (const statement of [
        "UPDATE dashboard.audit_entries SET actor_name = 'another'",
        'TRUNCATE dashboard.audit_entries',
        'DELETE FROM dashboard.audit_entries',
        ...(role === 'pf_webhook' ? [] : ['SELECT dashboard.forget_audit_entries(1)']),
      ])
        expect([role, statement, await codeOf(as[role], statement)]).toEqual([role, statement, DENIED]);
    }
    expect(await forgetAuditEntries(as.pf_webhook, 1_000)).toBe(0);
    const { rowCount } = await own.database.sql.query('SELECT FROM dashboard.audit_entries LIMIT 1');
    expect(rowCount).toBe(1);
  });

  it('let no service delete people, but the dashboard who has not confirmed in a week', async () => {
    const { sql } = own.database;
    const add = (id: string, age: string, confirmed = false) =>
      sql.query(
        `INSERT INTO dashboard.users (id, name, email, email_verified, created_at)
         VALUES ($1, $1, $1 || '@x.example', $3, now() - $2::interval)`,
        [id, age, confirmed],
      );
    await add('usr_old', '8 days');
    await add('usr_member', '8 days');
    await add('usr_confirmed', '8 days', true);
    await add('usr_new', '6 days');
    await sql.query(`INSERT INTO dashboard.members (account_id, user_id, role) VALUES ($1, 'usr_member', 'viewer')`, [
      accountId,
    ]);
    for (const role of DATABASE_ROLES.filter((name) => name !== 'pf_operator')) {
      for (const statement of [
        'DELETE FROM dashboard.users',
        ...(role === 'pf_dashboard' ? [] : ['SELECT dashboard.forget_unconfirmed_people(1)']),
      ])
        expect([role, statement, await codeOf(as[role], statement)]).toEqual([role, statement, DENIED]);
    }
    expect(await forgetUnconfirmedPeople(as.pf_dashboard, 1_000)).toBe(1);
    const { rows } = await sql.query<{ id: string }>(
      `SELECT id FROM dashboard.users WHERE id IN ('usr_old', 'usr_member', 'usr_confirmed', 'usr_new') ORDER BY id`,
    );
    expect(rows.map(({ id }) => id)).toEqual(['usr_confirmed', 'usr_member', 'usr_new']);
    await sql.query(`DELETE FROM dashboard.members WHERE user_id = 'usr_member'`);
    await sql.query(`DELETE FROM dashboard.users WHERE id IN ('usr_member', 'usr_confirmed', 'usr_new')`);
  });

  it('let no service delete a webhook URL, but the webhook service what was removed long ago', async () => {
    for (const role of DATABASE_ROLES.filter((name) => name !== 'pf_operator')) {
      for (const statement of [
        'DELETE FROM service.webhook_endpoints',
        ...(role === 'pf_webhook' ? [] : ['SELECT service.forget_removed_endpoints(1)']),
      ])
        expect([role, statement, await codeOf(as[role], statement)]).toEqual([role, statement, DENIED]);
    }
    const { rowCount } = await own.database.sql.query('SELECT FROM service.webhook_endpoints');
    expect(await forgetRemovedEndpoints(as.pf_webhook, 1_000)).toBe(0);
    expect((await own.database.sql.query('SELECT FROM service.webhook_endpoints')).rowCount).toBe(rowCount);
  });

  it('let only the operator see what the sessions of others do, and end them', async () => {
    const session = await as.pf_intent.sql.connect();
    const ended = new Promise((resolve) => session.once('end', resolve));
    session.on('error', () => undefined);
    const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const pid = rows[0]?.pid ?? 0;
    for (const role of DATABASE_ROLES.filter((name) => name !== 'pf_intent')) {
      const seen = await as[role].sql.query('SELECT state FROM pg_stat_activity WHERE pid = $1', [pid]);
      expect([role, seen.rows]).toEqual([role, [{ state: role === 'pf_operator' ? 'idle' : null }]]);
      if (role !== 'pf_operator')
        expect([role, await codeOf(as[role], `SELECT pg_terminate_backend(${pid})`)]).toEqual([role, DENIED]);
    }
    await as.pf_operator.sql.query('SELECT pg_terminate_backend($1)', [pid]);
    await ended;
    session.release(true);
  });

  it('let none fill the disk with large objects, or take the locks of others', async () => {
    for (const role of DATABASE_ROLES) {
      for (const statement of [
        'SELECT lo_create(0)',
        'SELECT lo_creat(-1)',
        "SELECT lo_from_bytea(0, 'thief')",
        'SELECT lo_open(1, 131072)',
        "SELECT lowrite(0, 'thief')",
        "SELECT lo_put(1, 0, 'thief')",
        'SELECT lo_get(1)',
        // That of `migrate`, and as many as the server has room for.
        'SELECT pg_advisory_lock(72707369)',
        'SELECT pg_try_advisory_lock(72707369)',
        'SELECT pg_try_advisory_lock_shared(72707369)',
        'SELECT pg_advisory_xact_lock_shared(72707369)',
        'SELECT pg_try_advisory_xact_lock(1, 1)',
        'SELECT pg_advisory_unlock_all()',
        // Only these two add URLs, whose number an account's lock keeps.
        ...(['pf_gateway', 'pf_operator'].includes(role) ? [] : ['SELECT pg_advisory_xact_lock(1)']),
      ])
        expect([role, statement, await codeOf(as[role], statement)]).toEqual([role, statement, DENIED]);
    }
  });

  it('leave an owner who is no superuser the lock of the migrations, when an administrator closes these', async () => {
    const name = `pf_test_owner_${randomBytes(4).toString('hex')}`;
    const { sql } = own.database;
    await sql.query(`CREATE ROLE ${name} LOGIN PASSWORD 'owner' IN ROLE pf_operator`);
    await sql.query('GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(bigint), lo_create(oid) TO PUBLIC');
    const mayCall = async (user: string): Promise<unknown> =>
      (
        await sql.query(
          `SELECT has_function_privilege($1, 'pg_try_advisory_lock(bigint)', 'EXECUTE') AS lock,
                  has_function_privilege($1, 'lo_create(oid)', 'EXECUTE') AS object`,
          [user],
        )
      ).rows[0];
    try {
      const url = Object.assign(new URL(own.url), { username: name, password: 'owner' }).href;
      const left = (await grantRights(url)).filter((statement) => /advisory|lo_create/.test(statement));
      expect(left).toEqual([
        `GRANT EXECUTE ON FUNCTION pg_try_advisory_lock(bigint) TO ${name}`,
        'REVOKE EXECUTE ON FUNCTION lo_create(oid), pg_try_advisory_lock(bigint) FROM PUBLIC',
      ]);
      await sql.query(left.join('; '));
      expect(await mayCall(name)).toEqual({ lock: true, object: false });
      expect(await mayCall('public')).toEqual({ lock: false, object: false });
      expect((await grantRights(url)).filter((statement) => /advisory|lo_create/.test(statement))).toEqual([]);
    } finally {
      await grantRights(own.url);
      await sql.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    }
  });

  it('let the archive read what `pf ledger verify` compares', async () => {
    expect(await coldVersions(as.pf_archive, 0)).toEqual(new Map());
    expect(await coldByBundle(as.pf_archive).next()).toMatchObject({ done: true });
  });

  it('cover every table', async () => {
    const { rows } = await own.database.sql.query<{ name: string }>(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables
        WHERE schemaname IN ('dashboard', 'ledger', 'service')`,
    );
    const used = new Set(
      Object.values(ROLE_DEFINITIONS).flatMap(({ rights }) => (rights === 'all' ? [] : Object.keys(rights))),
    );
    // Only `pf` reads none: a table that no service may use is unused, or its rights were forgotten.
    expect(rows.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  });

  it('have server-side limits below the time after which a client gives up', async () => {
    for (const role of DATABASE_ROLES) {
      const { rows } = await as[role].sql.query<{ name: string; ms: string }>(
        `SELECT name, setting AS ms FROM pg_settings WHERE name IN
           ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`,
      );
      for (const { name, ms } of rows) expect([role, name, Number(ms) > 0]).toEqual([role, name, true]);
      const statement = Number(rows.find(({ name }) => name === 'statement_timeout')?.ms);
      if (role !== 'pf_operator' && role !== 'pf_monitor') expect(statement).toBeLessThan(10_000);
    }
  });

  it('make services whose statements find all rows by an index plan them so, whatever the statistics say', async () => {
    for (const role of ['pf_intent', 'pf_webhook', 'pf_checkout', 'pf_archive'] as const) {
      const { rows } = await as[role].sql.query<{ enable_seqscan: string }>('SHOW enable_seqscan');
      expect([role, rows]).toEqual([role, [{ enable_seqscan: 'off' }]]);
    }
  });

  it('are optional: a process sets missing limits on its own connections', async () => {
    const database = openDatabase({
      url: own.url,
      applicationName: 'intent',
      settings: BY_INDEX,
    });
    const settings = async ({ sql }: Database): Promise<readonly string[]> =>
      (
        await sql.query<{ setting: string }>('SELECT setting FROM pg_settings WHERE name = ANY($1)', [
          Object.keys(BY_INDEX),
        ])
      ).rows.map(({ setting }) => setting);
    try {
      expect(await settings(database)).toEqual(['off', 'off', 'off']);
      expect(await settings(own.database)).toEqual(['on', 'on', 'on']);
    } finally {
      await database.close();
    }
  });

  it('give their settings to the users that are members of them', async () => {
    const name = `pf_test_member_${randomBytes(4).toString('hex')}`;
    await own.database.sql.query(`CREATE ROLE ${name} LOGIN PASSWORD 'member' IN ROLE pf_gateway`);
    try {
      expect(await grantRights(own.url)).toEqual([]);
      const url = Object.assign(new URL(own.url), { username: name, password: 'member' }).href;
      const member = openDatabase({ url, applicationName: 'member' });
      try {
        const { rows } = await member.sql.query<{ statement_timeout: string }>('SHOW statement_timeout');
        expect(rows).toEqual([{ statement_timeout: '8s' }]);
        expect(await findKeyHolder(member, hashApiKey(apiKey))).toMatchObject({ accountId });
        expect(await codeOf(member, 'DELETE FROM ledger.intents')).toBe(DENIED);
      } finally {
        await member.close();
      }
    } finally {
      await own.database.sql.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    }
  });

  it('are named in statements for an administrator if the owner of the tables may not manage roles', async () => {
    const name = `pf_test_owner_${randomBytes(4).toString('hex')}`;
    await own.database.sql.query(`CREATE ROLE ${name} LOGIN PASSWORD 'owner' IN ROLE pf_operator`);
    try {
      const url = Object.assign(new URL(own.url), { username: name, password: 'owner' }).href;
      const left = await grantRights(url);
      expect(left).toEqual(
        expect.arrayContaining(
          ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'].map((setting) =>
            expect.stringMatching(new RegExp(`^ALTER ROLE pf_gateway IN DATABASE \\S+ SET ${setting}`)),
          ),
        ),
      );
      await WORK.pf_monitor(as.pf_monitor);
    } finally {
      await own.database.sql.query(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    }
  });

  it('end a statement that waits for a lock on the server, and report it as unavailable', async () => {
    const blocker = await own.database.sql.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE ledger.intents IN ACCESS EXCLUSIVE MODE');
      const error: unknown = await findIntent(as.pf_gateway, intentId, owner()).catch((failure: unknown) => failure);
      expect([(error as pg.DatabaseError).code, isDatabaseUnavailable(error)]).toEqual(['55P03', true]);
      await noStatementRuns(own);
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
    }
  });

  it('end a statement that takes too long on the server, and report it as unavailable', async () => {
    const database = new URL(own.url).pathname.slice(1);
    await own.database.sql.query(`ALTER ROLE pf_gateway IN DATABASE ${database} SET statement_timeout = '300ms'`);
    const { href: url } = Object.assign(new URL((await openRoleLogins(own.url))?.pf_gateway ?? ''), {});
    const gateway = openDatabase({ url, applicationName: 'slow' });
    try {
      const error: unknown = await gateway.sql.query('SELECT pg_sleep(60)').catch((failure: unknown) => failure);
      expect([(error as pg.DatabaseError).code, isDatabaseUnavailable(error)]).toEqual(['57014', true]);
      await noStatementRuns(own);
    } finally {
      await gateway.close();
      await grantRights(own.url);
    }
  });
});

describe('lists by metadata', () => {
  it('leave the other statements their connections, however many there are, and end on the server', async () => {
    const own = await createOwnDatabase();
    await grantRights(own.url);
    const url = (await openRoleLogins(own.url))?.pf_gateway ?? '';
    const gateway = openDatabase({
      url,
      applicationName: 'gateway',
      maxConnections: 3,
      maxScans: 2,
    });
    const blocker = await own.database.sql.connect();
    try {
      const { id } = await openAccount(own.database, SECRETS_KEY, { name: 'slow' });
      await blocker.query('BEGIN; LOCK TABLE ledger.intents IN ACCESS EXCLUSIVE MODE');
      const filter = { metadata: { order: '1' } };
      const lists = Promise.allSettled(
        Array.from({ length: 8 }, () => listIntents(gateway, { accountId: id, livemode: false }, filter, null, 10)),
      );
      await until('two lists to wait', () => gateway.scans.totalCount === 2 && gateway.scans.waitingCount === 6);
      expect(await findKeyHolder(gateway, hashApiKey('none'))).toBeNull();
      for (const list of await lists)
        expect([list.status, list.status === 'rejected' && isDatabaseUnavailable(list.reason)]).toEqual([
          'rejected',
          true,
        ]);
      await noStatementRuns(own);
    } finally {
      await blocker.query('ROLLBACK');
      blocker.release();
      await gateway.close();
      await own.close();
    }
  });
});

describe('inTransaction()', () => {
  let own: OwnDatabase;
  beforeAll(async () => {
    own = await createOwnDatabase();
  });
  afterAll(() => own.close());

  it('rejects, and does not end the process, when the server ends its connection between two statements', async () => {
    const { database } = own;
    const error: unknown = await inTransaction(database, async (client) => {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const broken = new Promise((resolve) => client.once('end', resolve));
      await database.sql.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      await broken;
      await client.query('SELECT 1');
    }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(Error);
    await until('the pool to work', () => database.ready(1_000));
  });

  it('returns no connection to a standby to the pool', async () => {
    const { database } = own;
    const used: number[] = [];
    const write = (): Promise<unknown> =>
      inTransaction(database, async (client) => {
        const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        used.push(rows[0]?.pid ?? 0);
        // What a standby answers to a write.
        await client.query('SET TRANSACTION READ ONLY');
        await client.query('DELETE FROM ledger.intents');
      }).catch((failure: unknown) => failure);
    const errors = [await write(), await write()];
    expect(errors.map((error) => isDatabaseUnavailable(error))).toEqual([true, true]);
    expect(new Set(used).size).toBe(2);
  });
});
