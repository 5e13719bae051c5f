import { newDeliveryId, type Outcome } from '@pf/contracts';
import {
  type AmountMatch,
  type Checkpoint,
  type DeliveryBatch,
  type Found,
  type IdempotencyKey,
  type IntentOwner,
  isOfShard,
  type Overdue,
  type ProjectedEvent,
  type ProjectionBatch,
  ProjectionGapError,
  type RecordedDeliveries,
  type Shard,
  type StoredTransaction,
  type Wanted,
  type WantedAmount,
  type WatchCursor,
  type WatchedWallet,
  type WatchLease,
} from '@pf/database';
import {
  type Address,
  BLOCKS_BEHIND_MS,
  type ChainId,
  type CommandId,
  type Deposit,
  type DepositId,
  type Instant,
  type IntentId,
  type Landing,
  NOTHING_HAPPENED,
  type PaymentIntent,
  type PublicPayment,
  type TransactionHash,
  type Transfer,
} from '@pf/domain';
import type { DeliveryRow, IntentRow, ReservedRow, Tables } from './tables.ts';

/** What the statements of packages/database do, each as a function of the tables. */

const START: Checkpoint = { position: 0n, lastAt: 0 };
const NO_KEYS: readonly IntentId[] = [];
const keyOf = ({ accountId, livemode, idempotencyKey }: IdempotencyKey): string =>
  `${accountId} ${livemode} ${idempotencyKey}`;

export function checkpoint({ checkpoints }: Tables, partition: number): Checkpoint {
  const known = checkpoints.get(partition);
  if (known) return known;
  checkpoints.set(partition, START);
  return START;
}

export const findIntents = ({ intents }: Tables, ids: Iterable<IntentId>): readonly PaymentIntent[] =>
  [...new Set(ids)].flatMap((id) => intents.get(id)?.intent ?? []);

/** The newest intent of the key. */
function newestOf({ intents, intentsByKey }: Tables, key: IdempotencyKey): PaymentIntent | null {
  let newest: PaymentIntent | null = null;
  for (const id of intentsByKey.get(keyOf(key)) ?? NO_KEYS) {
    const intent = intents.get(id)?.intent;
    if (intent && (newest === null || intent.createdAt >= newest.createdAt)) newest = intent;
  }
  return newest;
}

export function lookUp(tables: Tables, { partition, ids, keys, commandIds, depositIds = [] }: Wanted): Found {
  const named = findIntents(tables, ids);
  const originals = findIntents(
    tables,
    named.flatMap(({ refundOf }) => refundOf ?? []),
  );
  const refunds = findIntents(
    tables,
    [...named, ...originals].flatMap(({ refundedBy }) => refundedBy ?? []),
  );
  const made = keys.flatMap((key) => newestOf(tables, key) ?? []);
  return {
    position: tables.checkpoints.get(partition)?.position ?? 0n,
    intents: [...named, ...originals, ...refunds, ...made],
    outcomes: findOutcomes(tables, commandIds),
    deposits: [...new Set(depositIds)].flatMap((id) => {
      const row = tables.deposits.get(id);
      return row?.partition === partition ? [row.deposit] : [];
    }),
    cold: [],
  };
}

export function overdue(
  { intents }: Tables,
  partitions: readonly number[],
  now: Instant,
  limit: number,
  after: ReadonlyMap<number, Overdue>,
): ReadonlyMap<number, readonly Overdue[]> {
  const due = new Map<number, Overdue[]>();
  for (const { partition, intent } of intents.values()) {
    if ((intent.status !== 'created' && intent.status !== 'pending') || intent.expiresAt > now) continue;
    if (!partitions.includes(partition)) continue;
    const from = after.get(partition);
    if (from && inOrder(intent, from) <= 0) continue;
    const { id, expiresAt } = intent;
    const others = due.get(partition);
    if (others) others.push({ id, expiresAt });
    else due.set(partition, [{ id, expiresAt }]);
  }
  return new Map([...due].map(([partition, found]) => [partition, found.sort(inOrder).slice(0, limit)]));
}

const inOrder = (one: Overdue, other: Overdue): number =>
  one.expiresAt - other.expiresAt || (one.id < other.id ? -1 : Number(one.id > other.id));

export function project(
  tables: Tables,
  { partition, from, next, lastAt, intents, deposits = [], events, outcomes }: ProjectionBatch,
): boolean {
  const before = tables.checkpoints.get(partition);
  if (before?.position !== from) return false;
  const gap = (): Error =>
    new ProjectionGapError(`Batch [${from}, ${next}) of partition ${partition} does not follow the projection`);
  // Each row is changed once at most: a repeated one is not at its version any more.
  for (const { intent, before: version } of intents) {
    const known = tables.intents.get(intent.id)?.intent.version;
    if (known !== (version === 0 ? undefined : version)) throw gap();
    tables.intents.set(intent.id, { partition, intent });
    if (version > 0 || intent.idempotencyKey === null) continue;
    const key = keyOf({ ...intent, idempotencyKey: intent.idempotencyKey });
    tables.intentsByKey.set(key, [...(tables.intentsByKey.get(key) ?? NO_KEYS), intent.id]);
  }
  for (const { deposit, before: version } of deposits) {
    const known = tables.deposits.get(deposit.id)?.deposit.version;
    if (known !== (version === 0 ? undefined : version)) throw gap();
    tables.deposits.set(deposit.id, { partition, deposit });
  }
  for (const event of events) {
    const key = `${event.intentId} ${event.version}`;
    if (tables.events.has(key)) throw gap();
    tables.events.set(key, event);
  }
  for (const { outcome } of outcomes)
    if (!tables.outcomes.has(outcome.commandId)) tables.outcomes.set(outcome.commandId, outcome);
  tables.checkpoints.set(partition, { position: next, lastAt: Math.max(before.lastAt, lastAt) });
  return true;
}

export const projectAll = (tables: Tables, batches: readonly ProjectionBatch[]): ReadonlySet<number> =>
  new Set(batches.filter((batch) => project(tables, batch)).map(({ partition }) => partition));

export function findIntent({ intents }: Tables, id: IntentId, owner: IntentOwner): PaymentIntent | null {
  const intent = intents.get(id)?.intent;
  return intent && intent.accountId === owner.accountId && intent.livemode === owner.livemode ? intent : null;
}

export function findIntentByKey(tables: Tables, key: IdempotencyKey, since: Instant): PaymentIntent | null {
  const newest = newestOf(tables, key);
  return newest && newest.createdAt >= since ? newest : null;
}

const isReportOf = (body: string, hash: TransactionHash, { to, amount }: Transfer): boolean => {
  const { payment } = (JSON.parse(body) as { readonly data: { readonly payment: PublicPayment } }).data;
  return payment.txSignature === hash && payment.recipient === to && payment.amountBaseUnits === amount.toString();
};

export function findReported(
  { events }: Tables,
  { hash, transfer }: Landing,
  { accountId, livemode }: IntentOwner,
  than: IntentId,
  since: Instant,
): IntentId | null {
  const reports = [...events.values()].filter(
    ({ intentId, type, at, owner, body }) =>
      type === 'intent.mismatched_payment' &&
      owner?.accountId === accountId &&
      owner.livemode === livemode &&
      intentId !== than &&
      Date.parse(at) >= since &&
      isReportOf(body, hash, transfer),
  );
  const nameOf = ({ at, eventId }: ProjectedEvent): string => `${at} ${eventId}`;
  const [newest] = reports.sort((one, other) => (nameOf(one) < nameOf(other) ? 1 : -1));
  return (newest?.intentId as IntentId | undefined) ?? null;
}

export function findDeposit({ deposits }: Tables, id: DepositId, owner: IntentOwner): Deposit | null {
  const deposit = deposits.get(id)?.deposit;
  return deposit?.accountId === owner.accountId && deposit.livemode === owner.livemode ? deposit : null;
}

export const findOutcomes = ({ outcomes }: Tables, commandIds: readonly CommandId[]): readonly Outcome[] =>
  [...new Set(commandIds)].flatMap((id) => outcomes.get(id) ?? []);

interface WalletOfAccount {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly chain: string;
  readonly tokenAddress: string;
  readonly recipient: string;
}
const isSamePlace = (row: WalletOfAccount, other: WalletOfAccount): boolean =>
  row.chain === other.chain && row.tokenAddress === other.tokenAddress && row.recipient === other.recipient;
const isSameWallet = (row: WalletOfAccount, other: WalletOfAccount): boolean =>
  row.accountId === other.accountId && row.livemode === other.livemode && isSamePlace(row, other);

export function reserveAmount({ reservedAmounts }: Tables, wanted: WantedAmount): bigint | null {
  const { asked, step, max, round, ...of } = wanted;
  const own = reservedAmounts.get(of.intentId);
  if (own) return own.amount;
  const rows = [...reservedAmounts.values()];
  const mine = new Set(rows.filter((row) => isSameWallet(row, of)).map(({ amount }) => amount));
  const others = rows.filter((row) => isSamePlace(row, of) && row.accountId !== of.accountId);
  const taken = new Set([...mine, ...others.map(({ amount }) => amount)]);
  const amounts = Array.from({ length: Number(max / step) }, (_, at) => asked + step * BigInt(at + 1)).filter(
    (one) => one % round !== 0n,
  );
  const amount = amounts.find((one) => !taken.has(one)) ?? amounts.find((one) => !mine.has(one));
  if (amount === undefined) return null;
  reservedAmounts.set(of.intentId, { ...of, amount, match: null, next: null });
  return amount;
}

export const releaseAmount = ({ reservedAmounts }: Tables, intentId: IntentId): void => {
  reservedAmounts.delete(intentId);
};

/** As long as in packages/database/src/amounts/reserved-amounts.ts. */
const MATCH_AGAIN_MS = 15_000;
const DOUBLED_MAX = 6;

export function takeDueMatches({ reservedAmounts }: Tables, now: Instant, limit: number): readonly AmountMatch[] {
  const due = [...reservedAmounts.values()].flatMap((row) => {
    const { match } = row;
    return match !== null && match.dueAt !== null && match.dueAt <= now ? [{ row, match, dueAt: match.dueAt }] : [];
  });
  due.sort((one, other) => one.dueAt - other.dueAt);
  return due.slice(0, limit).map(({ row, match: { depositId, depositVersion, tries } }) => {
    const dueAt = now + MATCH_AGAIN_MS * 2 ** Math.min(tries, DOUBLED_MAX);
    reservedAmounts.set(row.intentId, { ...row, match: { depositId, depositVersion, tries: tries + 1, dueAt } });
    const { intentId, accountId, livemode } = row;
    const isSecond = [...reservedAmounts.values()].some(
      (other) =>
        isSamePlace(other, row) &&
        other.amount === row.amount &&
        other.accountId !== accountId &&
        other.until > now &&
        (other.at < row.at || (other.at === row.at && other.intentId < intentId)),
    );
    return { intentId, depositId, depositVersion, accountId, livemode, tries: tries + 1, isSecond };
  });
}

/** The deposit gives way to the next of the amount, or to none. */
const withNext = ({ next, ...row }: ReservedRow, dueAt: Instant | null): ReservedRow => ({
  ...row,
  match: next && { ...next, tries: 0, dueAt },
  next: null,
});

type MatchName = Pick<AmountMatch, 'intentId' | 'depositId'>;

export function settleMatch(
  { reservedAmounts }: Tables,
  { intentId, depositId }: MatchName,
  isAssigned: boolean,
): void {
  const row = reservedAmounts.get(intentId);
  if (row?.match?.depositId !== depositId) return;
  const { dueAt } = row.match;
  const assigned = { ...row, match: { ...row.match, tries: 0, dueAt: null } };
  reservedAmounts.set(intentId, isAssigned ? assigned : withNext(row, dueAt));
}

export function postponeMatch({ reservedAmounts }: Tables, { intentId, depositId }: MatchName, until: Instant): void {
  const row = reservedAmounts.get(intentId);
  if (row?.match?.depositId !== depositId || row.match.dueAt === null) return;
  reservedAmounts.set(intentId, { ...row, match: { ...row.match, dueAt: until } });
}

export const hasRival = ({ intents }: Tables, intent: PaymentIntent, closedAfter: Instant): boolean =>
  [...intents.values()].some(
    ({ intent: other }) =>
      other.id !== intent.id &&
      other.accountId === intent.accountId &&
      other.livemode === intent.livemode &&
      other.requestor === intent.requestor &&
      other.chain === intent.chain &&
      other.tokenAddress === intent.tokenAddress &&
      other.amountBaseUnits === intent.amountBaseUnits &&
      other.status !== 'confirmed' &&
      other.status !== 'finalized' &&
      (other.closedAt === null || other.closedAt > closedAfter),
  );

/** As followArrivals() of packages/database/src/amounts/reserved-amounts.ts. */
function followArrivals({ reservedAmounts }: Tables, events: DeliveryBatch['events'], at: Date): void {
  const now = at.getTime();
  const lost = new Set(events.filter(({ eventType }) => eventType === 'deposit.lost').map(({ intentId }) => intentId));
  for (const row of [...reservedAmounts.values()]) {
    const next = row.next !== null && lost.has(row.next.depositId) ? null : row.next;
    if (row.match !== null && lost.has(row.match.depositId))
      reservedAmounts.set(row.intentId, withNext({ ...row, next }, now));
    else if (next !== row.next) reservedAmounts.set(row.intentId, { ...row, next });
  }
  for (const { plainArrival: plain, intentId: id, version: depositVersion, accountId, livemode } of events) {
    if (plain === undefined) continue;
    const row = [...reservedAmounts.values()].find(
      (one) =>
        one.next === null &&
        one.match?.depositId !== id &&
        isSameWallet(one, { ...plain, accountId, livemode }) &&
        one.amount === BigInt(plain.amountBaseUnits) &&
        plain.at >= one.at - BLOCKS_BEHIND_MS &&
        plain.at < one.until,
    );
    if (!row) continue;
    const arrived = { depositId: id as DepositId, depositVersion };
    const taken = row.match === null ? { match: { ...arrived, tries: 0, dueAt: now } } : { next: arrived };
    reservedAmounts.set(row.intentId, { ...row, ...taken });
  }
}

export function keepTransaction({ signedTransactions }: Tables, transaction: StoredTransaction, now: Instant): void {
  const key = `${transaction.intentId} ${transaction.hash}`;
  const known = signedTransactions.get(key);
  signedTransactions.set(key, {
    ...(known ?? { ...transaction, bytes: Uint8Array.from(transaction.bytes) }),
    createdAt: now,
  });
}

export function findTransactions(
  { signedTransactions }: Tables,
  chain: ChainId,
  hashes: readonly TransactionHash[],
): ReadonlyMap<TransactionHash, Uint8Array> {
  const found = new Map<TransactionHash, Uint8Array>();
  for (const row of signedTransactions.values())
    if (row.chain === chain && hashes.includes(row.hash) && !found.has(row.hash))
      found.set(row.hash, Uint8Array.from(row.bytes));
  return found;
}

export function forgetTransactions(
  { signedTransactions, intents }: Tables,
  chain: ChainId,
  shard: Shard,
  keptBefore: Instant,
  needed: readonly TransactionHash[],
  unknown: readonly IntentId[],
): number {
  const isOurs = (id: IntentId): boolean => {
    if (shard.count === 1) return true;
    const row = intents.get(id);
    return row !== undefined && isOfShard(row.intent.requestor, shard);
  };
  const old = [...signedTransactions.entries()].filter(
    ([, row]) =>
      isOurs(row.intentId) &&
      row.chain === chain &&
      row.createdAt < keptBefore &&
      !needed.includes(row.hash) &&
      !unknown.includes(row.intentId),
  );
  for (const [key] of old) signedTransactions.delete(key);
  return old.length;
}

export function acquireWatch(
  { watches }: Tables,
  chain: ChainId,
  shard: Shard,
  holder: string,
  ttlMs: number,
  now: Instant,
): WatchLease | null {
  // No simulated network is split.
  if (shard.count !== 1) return null;
  const known = watches.get(chain);
  const isFree =
    known === undefined ||
    known.holder === null ||
    known.holder === holder ||
    (known.expiresAt !== null && known.expiresAt < now);
  if (!isFree) return null;
  const row = { holder, epoch: (known?.epoch ?? 0n) + 1n, expiresAt: now + ttlMs, cursor: known?.cursor ?? null };
  watches.set(chain, row);
  return { chain, shard, epoch: row.epoch, cursor: row.cursor };
}

type WatchChange = Partial<{ holder: null; expiresAt: Instant | null; cursor: WatchCursor }>;

/** Changes the row of a lease that is still the newest. */
export function changeWatch({ watches }: Tables, { chain, epoch }: WatchLease, change: WatchChange): boolean {
  const known = watches.get(chain);
  if (known?.epoch !== epoch) return false;
  watches.set(chain, { ...known, ...change });
  return true;
}

/** Moves the cursor under a lease that is still the newest, and stores bookmarks with it. */
export function moveCursor(
  tables: Tables,
  lease: WatchLease,
  cursor: WatchCursor,
  changed: Iterable<readonly [string, string | null]>,
): boolean {
  if (!changeWatch(tables, lease, { cursor })) return false;
  const { chain } = lease;
  for (const [recipient, bookmark] of changed) {
    const key = `${chain} ${recipient}`;
    if (bookmark === null) tables.bookmarks.delete(key);
    else tables.bookmarks.set(key, { chain, recipient, bookmark });
  }
  return true;
}

export const bookmarksOf = ({ bookmarks }: Tables, chain: ChainId, shard: Shard): ReadonlyMap<string, string> =>
  new Map(
    [...bookmarks.values()]
      .filter((one) => one.chain === chain && isOfShard(one.recipient as Address, shard))
      .map(({ recipient, bookmark }) => [recipient, bookmark]),
  );

export const watchedRows = (
  { intents }: Tables,
  chains: readonly ChainId[],
  closedAfter: Instant,
  shard: Shard,
): readonly IntentRow[] =>
  [...intents.values()].filter(
    ({ intent }) =>
      chains.includes(intent.chain) &&
      (intent.closedAt === null || intent.closedAt > closedAfter) &&
      isOfShard(intent.requestor, shard),
  );

export const openDeposits = ({ deposits }: Tables, chains: readonly ChainId[], shard: Shard): readonly Deposit[] =>
  [...deposits.values()]
    .map(({ deposit }) => deposit)
    .filter(
      ({ chain, level, arrival }) => chains.includes(chain) && level === 'confirmed' && isOfShard(arrival.to, shard),
    );

export const wallets = (
  { wallets: kept }: Tables,
  chains: readonly ChainId[],
  after: Instant,
  shard: Shard,
): readonly WatchedWallet[] =>
  [...kept.values()].filter(
    ({ chain, recipient, until }) => chains.includes(chain) && until > after && isOfShard(recipient, shard),
  );

export function keepWallets({ wallets: kept }: Tables, some: readonly WatchedWallet[]): void {
  for (const wallet of some) {
    const key = walletKey(wallet);
    const { since, until } = kept.get(key) ?? wallet;
    kept.set(key, { ...wallet, since: Math.min(since, wallet.since), until: Math.max(until, wallet.until) });
  }
}

export function forgetWallets({ wallets: kept }: Tables, chains: readonly ChainId[], before: Instant): void {
  for (const wallet of [...kept.values()])
    if (chains.includes(wallet.chain) && wallet.until < before) kept.delete(walletKey(wallet));
}

const walletKey = ({ chain, recipient, accountId }: WatchedWallet): string => `${chain} ${recipient} ${accountId}`;

export const countRebuilds = ({ rebuilds }: Tables): number =>
  [...rebuilds.values()].reduce((sum, count) => sum + count, 0);

/** As packages/database/src/ledger/decoding.ts reads a row whose state cannot be decoded. */
export const undecodable = (intent: PaymentIntent): PaymentIntent => ({
  ...intent,
  ...NOTHING_HAPPENED,
  decimals: 0,
  amount: '',
  fulfiller: null,
  metadata: null,
  txSignature: null,
  refundedBy: null,
  heldFrom: intent.version,
});

/** What `pf log rebuild` does: these are the partition's intents, as its log says. */
export function rebuild(tables: Tables, partition: number, folded: readonly PaymentIntent[]): void {
  for (const intent of folded) tables.intents.set(intent.id, { partition, intent });
  tables.rebuilds.set(partition, (tables.rebuilds.get(partition) ?? 0) + 1);
}

export function positions({ webhookPositions }: Tables, partitions: readonly number[]): ReadonlyMap<number, bigint> {
  return new Map(
    partitions.map((partition) => {
      const known = webhookPositions.get(partition);
      if (known === undefined) webhookPositions.set(partition, 0n);
      return [partition, known ?? 0n];
    }),
  );
}

export function recordDeliveries(tables: Tables, batches: readonly DeliveryBatch[], at: Date): RecordedDeliveries {
  const { webhookPositions, endpoints, deliveries } = tables;
  const moved = batches.filter(({ partition, from }) => webhookPositions.get(partition) === from);
  for (const { partition, next } of moved) webhookPositions.set(partition, next);
  followArrivals(
    tables,
    moved.flatMap(({ events }) => events),
    at,
  );
  const enabled = [...endpoints.values()].filter(({ disabled }) => !disabled);
  const made: DeliveryRow[] = [];
  for (const event of moved.flatMap(({ events }) => events))
    for (const { id: endpointId, accountId, livemode } of enabled) {
      const key = `${event.eventId} ${endpointId}`;
      if (accountId !== event.accountId || livemode !== event.livemode || deliveries.has(key)) continue;
      const delivery = { ...event, id: newDeliveryId(), endpointId, nextAttemptAt: at };
      deliveries.set(key, delivery);
      made.push(delivery);
    }
  return {
    moved: new Set(moved.map(({ partition }) => partition)),
    due: made.map(({ id, endpointId }) => ({ id, endpointId })),
  };
}
