import { webhookBody } from '@pf/contracts';
import {
  type Deposit,
  type EventData,
  type IntentEvent,
  isPublicType,
  liveSubmission,
  type PaymentIntent,
  type TransactionHash,
} from '@pf/domain';
import type { LogRecord, Topic } from '@pf/event-log';
import { isDeepStrictEqual } from 'node:util';
import { hasAdversary } from '../plan.ts';
import type { WorldDependencies } from '../world/world-dependencies.ts';
import { checkBooks, isCounting } from './books.ts';
import { type Invariant, InvariantError } from './invariants.ts';
import { LogFold } from './log-reader.ts';
import type { Model } from './model.ts';
import { checkReports } from './reports.ts';

/** Of the landing in an event. */
const hashIn = (data: unknown): string => (data as { readonly landing: { readonly hash: string } }).landing.hash;

/** Not the domain's own: bugs are planted there. */
const isEnough = ({ accept, amountBaseUnits }: PaymentIntent, amount: bigint): boolean =>
  accept === undefined ? amount === amountBaseUnits : amount >= amountBaseUnits;

const require = (holds: boolean, invariant: Invariant, what: () => string): void => {
  if (!holds) throw new InvariantError(invariant, what());
};

/** The events that tell of a landing first. */
const TOLD: ReadonlySet<string> = new Set([
  'intent.confirmed',
  'confirmation_restored',
  'intent.extra_payment',
  'intent.mismatched_payment',
]);
/** A watcher broadcasts every 15 s; another one takes over within as long. */
const REBROADCAST_WITHIN_MS = 45_000;
/** How long a watcher may take to load what a rebuild has repaired, and an operator to rebuild. */
const MENDED_WITHIN_MS = 65_000;
/** How long after it a watcher may notice at the latest that a block is final. */
const FINALIZED_WITHIN_MS = 20_000;

/** Compares what happened with what the model expects. Sees everything, at one moment. */
export class Checks {
  readonly #world: WorldDependencies;
  readonly #model: Model;
  readonly #fold = new LogFold();
  readonly #positions = new Map<string, bigint>();
  /** Since when claimed transactions are in no pool and in no block, by hash. */
  readonly #absent = new Map<TransactionHash, number>();
  /** The amounts of transfers that intents' accounts were told, by transaction, token and recipient, and by index. */
  readonly #told = new Map<string, Map<string, bigint>>();
  /** What an owner has consumed after another one had. */
  #consumedAgain: string | null = null;

  constructor(world: WorldDependencies) {
    this.#world = world;
    this.#model = world.model;
    world.broker.onOffset = ({ key, offset }, before) => {
      if (offset <= before) this.#consumedAgain ??= `${key} was consumed up to ${before}, and then up to ${offset}`;
    };
  }

  /** Holds at every moment. @throws InvariantError */
  always(): void {
    const { plan, unforeseen } = this.#world;
    require(unforeseen === null, 'no request fails for a reason of the service', () => String(unforeseen));
    require(this.#model.contradiction === null, 'clients are told no contradiction', () =>
      String(this.#model.contradiction));
    require(this.#consumedAgain === null, 'an input is consumed once', () => String(this.#consumedAgain));
    for (let partition = 0; partition < plan.partitions; partition++) {
      for (const record of this.#unread('intent.commands', partition)) this.#fold.sent(record);
      for (const record of this.#unread('intent.events', partition)) {
        const event = this.#fold.add(record);
        if (event === null) continue;
        this.#finality(event, record);
        this.#worth(event);
      }
    }
    this.#money();
    this.#released();
    this.#forgotten();
  }

  #unread(topic: Topic, partition: number): readonly LogRecord[] {
    const name = `${topic}/${partition}`;
    const { records, next } = this.#world.committed(topic, partition, this.#positions.get(name) ?? 0n);
    this.#positions.set(name, next);
    return records;
  }

  /** Holds some time after the last fault. @throws InvariantError */
  finally(): void {
    this.always();
    this.#acknowledged();
    this.#progress();
    this.#projection();
    this.#deliveries();
    for (const intent of this.#fold.intents.values()) this.#end(intent);
    this.#odd();
    this.#books();
    const { intents, deposits, events } = this.#fold;
    checkReports({ intents: intents.values(), deposits, events });
  }

  /** What has arrived at merchants that have intents, to the unit. An adversary moves money that is in no book. */
  #books(): void {
    const { plan, merchants, network } = this.#world;
    if (hasAdversary(plan)) return;
    const named = new Set<string>([...this.#fold.intents.values()].map(({ requestor }) => requestor));
    const recipients = new Set(merchants.map(({ address }) => address).filter((address) => named.has(address)));
    const { intents, deposits, events } = this.#fold;
    checkBooks({ intents: intents.values(), deposits, events }, network.chain.standing(), recipients);
  }

  /** What an account has to be told of, whatever else there is on the chain. */
  #odd(): void {
    const standing = new Set(this.#world.network.chain.standing().map(({ hash }) => hash as string));
    const told = new Set(
      this.#fold.events.flatMap(({ type, intentId, data }) =>
        type === 'intent.mismatched_payment' ? [`${intentId} ${hashIn(data)}`] : [],
      ),
    );
    for (const { id, hash } of this.#model.odd)
      require(!standing.has(hash) || told.has(`${id} ${hash}`), 'dust hides no payment', () =>
        `${hash} paid ${id} with another amount, and its account was not told`);
  }

  /** Compares with the chain as it was when the event came into the log. */
  #finality(event: IntentEvent, { timestamp }: LogRecord): void {
    if (event.type !== 'intent.finalized' || event.data.simulated) return;
    const { chain } = this.#world.network;
    const { hash } = event.data;
    const block = chain.inclusionOf(hash, timestamp)?.block ?? Infinity;
    const final = chain.finalHeight(timestamp);
    require(block <= final, 'what is finalized is final on its chain', () =>
      `${event.intentId} was finalized by ${hash} of block ${block}, and block ${final} was final`);
  }

  /** All landings of a transaction that are told, of whatever intents, together. */
  #worth(event: IntentEvent): void {
    if (!TOLD.has(event.type) || !('landing' in event.data) || event.data.landing === null) return;
    const { hash, transfer } = event.data.landing;
    const { tokenAddress, from, to, amount, block, blockHash, index } = transfer;
    // An invention is not final: that is another invariant.
    if (from === to || this.#model.inventions.has(hash)) return;
    const key = `${hash} ${blockHash} ${tokenAddress} ${to}`;
    const told = this.#told.get(key) ?? new Map<string, bigint>();
    this.#told.set(key, told.set(index, amount));
    const sum = [...told.values()].reduce((total, one) => total + one, 0n);
    const gained = this.#world.network.chain.gainedBy(hash, Number(block), tokenAddress, to);
    require(gained !== null && sum <= gained, 'a landing is worth at most what was gained', () =>
      `${event.type} of ${event.intentId}: ${sum} of ${hash} are told, and ${to} gained ${gained}`);
  }

  /** Whether something may be committed whose marker is not written yet, so that nothing reads it. */
  #isLogAhead(): boolean {
    const { plan, broker } = this.#world;
    return Array.from({ length: plan.partitions }, (_, partition) => partition).some(
      (partition) => broker.openTransactions(partition).length > 0,
    );
  }

  /** By transactions that only the service had. */
  #money(): void {
    if (this.#isLogAhead()) return;
    const moved = new Map<string, TransactionHash>();
    for (const { hash, reference } of this.#world.network.chain.standing()) {
      if (reference === null) continue;
      const id = this.#model.given.get(hash);
      if (id === undefined || this.#model.byHand.has(hash)) continue;
      require(this.#fold.claimed.has(`${id} ${hash}`), 'nothing is broadcast without a claim', () =>
        `${hash} stands on chain, and ${id} was never claimed for it`);
      const other = moved.get(reference);
      require(other === undefined || other === hash, 'money moves once', () => `${other} and ${hash} both paid ${id}`);
      moved.set(reference, hash);
    }
  }

  /** What no node has taken cannot pay later, unless its payer hands it over or sends it again. */
  #released(): void {
    if (this.#isLogAhead()) return;
    const { chain } = this.#world.network;
    for (const hash of this.#fold.released)
      require(this.#model.byHand.has(hash) || !chain.isWaiting(hash), 'a released claim cannot pay', () =>
        `the claim for ${hash} was released, and it can still land`);
  }

  /** Once nothing goes wrong any more, every claimed transaction that can land is soon in a pool, or in a block. */
  #forgotten(): void {
    const { calmSince, plan, network, kernel } = this.#world;
    // A database that was set back has forgotten the bytes.
    if (calmSince === null || plan.kinds.has('set-back store')) return;
    const now = kernel.now();
    const within = REBROADCAST_WITHIN_MS + (plan.kinds.has('damaged rows') ? MENDED_WITHIN_MS : 0);
    for (const intent of this.#fold.intents.values()) {
      const live = liveSubmission(intent);
      if (live === undefined) continue;
      const { hash, sender, nonce } = live;
      if (network.chain.canLandOnlyIfSent(hash, sender, Number(nonce))) {
        const since = this.#absent.get(hash) ?? now;
        this.#absent.set(hash, since);
        require(now - since <= within, 'a claimed transaction is not forgotten', () =>
          `${hash} of ${intent.id}, which is ${intent.status}, was in no pool and no block for ${now - since} ms`);
      } else this.#absent.delete(hash);
    }
  }

  #acknowledged(): void {
    const { intents, blobs, claimed, assigned } = this.#fold;
    const effect = (holds: boolean, what: () => string): void =>
      require(holds, 'an acknowledged command takes effect', what);
    for (const id of this.#model.intents) effect(intents.has(id as never), () => `the created intent ${id} is missing`);
    for (const { id, marker } of this.#model.updates)
      effect(
        intents.get(id as never)?.metadata?.[marker] !== undefined,
        () => `the update ${marker} of ${id} is missing`,
      );
    for (const id of this.#model.detections)
      effect(typeof intents.get(id as never)?.detectedAt === 'number', () => `the detection of ${id} is missing`);
    for (const id of this.#model.cancellations)
      effect(
        this.#fold.events.some(({ type, intentId }) => type === 'intent.cancelled' && intentId === id),
        () => `the cancellation of ${id} is missing`,
      );
    for (const { id, blob } of this.#model.builds)
      effect(blobs.has(`${id} ${blob}`), () => `the transaction built for ${id} is missing`);
    for (const { id, hash } of this.#model.submissions) {
      const intent = intents.get(id as never);
      effect(
        claimed.has(`${id} ${hash}`) || intent?.txSignature === hash,
        () => `the submission of ${hash} is missing`,
      );
    }
    for (const { depositId, intentId } of this.#model.assignments)
      effect(
        assigned.has(`${depositId} ${intentId}`),
        () => `the assignment of ${depositId} to ${intentId} is missing`,
      );
    for (const { id, refundId } of this.#model.refunds)
      effect(intents.get(refundId as never)?.refundOf === id, () => `the refund ${refundId} of ${id} is missing`);
  }

  /** Everything that was sent to a partition has been consumed, projected and delivered. */
  #progress(): void {
    const { broker, plan, database } = this.#world;
    for (let partition = 0; partition < plan.partitions; partition++) {
      for (const topic of ['intent.commands', 'chain.observations'] as const) {
        const end = BigInt(broker.log(topic, partition).end);
        const reached = broker.group('intent').offsets.get(`${topic}/${partition}`) ?? 0n;
        require(reached === end, 'nothing stands still', () =>
          `the owner of partition ${partition} is at ${reached} of ${end} in ${topic}`);
      }
      const { stableEnd, end } = broker.log('intent.events', partition);
      require(stableEnd === end, 'nothing stands still', () =>
        `a transaction of partition ${partition} is open from ${stableEnd}, and its log ends at ${end}`);
      for (const [what, position] of [
        ['projection', database.tables.checkpoints.get(partition)?.position ?? 0n],
        ['webhooks', database.tables.webhookPositions.get(partition) ?? 0n],
      ] as const) {
        require(position <= BigInt(end), 'nothing stands still', () =>
          `the ${what} of partition ${partition} are at ${position}, and its log ends at ${end}`);
        const { records } = this.#world.committed('intent.events', partition, position);
        require(records.length === 0, 'nothing stands still', () =>
          `the ${what} of partition ${partition} are at ${position}, and ${records.length} events follow`);
      }
    }
  }

  #projection(): void {
    const { intents, deposits } = this.#world.database.tables;
    const same = (holds: boolean, what: () => string): void =>
      require(holds, 'the projection is the fold of the log', what);
    same(
      intents.size === this.#fold.intents.size,
      () => `it has ${intents.size} intents, and the log ${this.#fold.intents.size}`,
    );
    for (const [id, expected] of this.#fold.intents) {
      const projected = intents.get(id)?.intent;
      same(
        isDeepStrictEqual(projected, expected),
        () => `${id} is at version ${projected?.version} there, and at ${expected.version} in the log`,
      );
    }
    const received = new Map([...deposits.values()].map(({ deposit }) => [deposit.id, deposit]));
    same(
      isDeepStrictEqual(received, this.#fold.deposits),
      () => `it has ${received.size} deposits, and the log ${this.#fold.deposits.size}, or others`,
    );
  }

  #deliveries(): void {
    const delivered = new Set([...this.#world.database.tables.deliveries.values()].map(({ eventId }) => eventId));
    for (const event of this.#fold.events)
      if (isPublicType(event.type) && webhookBody(event) !== null)
        require(delivered.has(event.eventId), 'a public event is due for delivery', () =>
          `${event.type}, version ${event.version} of ${event.intentId}, has no delivery`);
    for (const { eventId, type, version, depositId } of this.#fold.depositEvents)
      require(delivered.has(eventId), 'a public event is due for delivery', () =>
        `${type}, version ${version} of ${depositId}, has no delivery`);
  }

  /** Whether a database that was set back has forgotten the bytes of a transaction. */
  #areForgotten(hash: string): boolean {
    const { plan, database } = this.#world;
    return (
      plan.kinds.has('set-back store') &&
      ![...database.tables.signedTransactions.values()].some((stored) => stored.hash === hash)
    );
  }

  /** The deposits that pay it by its account's word, where they pay what it asks for. */
  #assignedTo(intent: PaymentIntent): readonly Deposit[] {
    const { id, tokenAddress, requestor } = intent;
    return [...this.#fold.deposits.values()].filter(
      (deposit) =>
        deposit.state === 'assigned' &&
        deposit.intentId === id &&
        isCounting(deposit) &&
        deposit.arrival.tokenAddress === tokenAddress &&
        deposit.arrival.to === requestor &&
        isEnough(intent, deposit.arrival.amount),
    );
  }

  /** An intent that more than its amount may pay says what has arrived and, once that is final, what was too much. */
  #received(intent: PaymentIntent, transfers: readonly { readonly hash: string; readonly amount: bigint }[]): void {
    const { id, accept, amountBaseUnits, amountReceived, settlement } = intent;
    const told = (holds: boolean, what: string): void =>
      require(holds, 'what has arrived is told', () => `${id}: ${what}`);
    const arrived = transfers.find(({ hash }) => hash === settlement?.hash)?.amount;
    told(
      amountReceived === (accept === undefined ? undefined : arrived),
      `${arrived} arrived, and it has received ${amountReceived}`,
    );
    const own = this.#fold.events.filter(({ intentId }) => intentId === id);
    for (const [place, event] of own.entries()) {
      if (event.type !== 'intent.finalized') continue;
      const more = ((event.data as EventData['intent.finalized']).landing?.transfer.amount ?? 0n) - amountBaseUnits;
      const next = own[place + 1];
      const overpayment = next?.type === 'intent.overpaid' ? (next.data as EventData['intent.overpaid']) : null;
      told((overpayment?.amountBaseUnits ?? 0n) === more, `${more} more is final, and ${overpayment?.amount} is told`);
    }
  }

  #end(intent: PaymentIntent): void {
    const { chain } = this.#world.network;
    const live = liveSubmission(intent);
    const inclusion = live && chain.inclusionOf(live.hash, this.#world.kernel.now());
    require(!inclusion, 'what landed has an outcome', () =>
      `${live?.hash} of ${intent.id} (${intent.status}) is in block ${inclusion?.block} and still counts as live`);
    const named = this.#fold.named.get(intent.id);
    const invented = this.#model.inventions.get(intent.settlement?.hash ?? '');
    if (invented !== undefined) {
      // Some time after its block is final, so that a watcher has taken it for final.
      require(chain.finalHeight(this.#world.kernel.now() - FINALIZED_WITHIN_MS) >=
        invented, 'nothing stands still', () => `the invented block ${invented} is not final yet`);
      return;
    }
    // A database that was set back has forgotten the bytes. Nodes refuse to replace another one with the same nonce,
    // which may wait for an earlier nonce.
    if (live && !this.#world.plan.kinds.has('set-back store'))
      require(chain.waitsWith(live.sender, Number(live.nonce)), 'a claimed transaction is not forgotten', () =>
        `${live.hash} of ${intent.id}, which is ${intent.status}, waits nowhere`);
    const says = (holds: boolean, what: string): void =>
      require(holds, 'an intent ends as its chain says', () => `${intent.id} is ${intent.status}: ${what}`);
    const paying = chain
      .standing()
      .filter(
        ({ reference, token, to, amount, from, isKept }) =>
          isKept &&
          reference === intent.reference &&
          token === intent.tokenAddress &&
          to === intent.requestor &&
          isEnough(intent, amount) &&
          from !== to &&
          (named === undefined || from === named),
      );
    const assigned = this.#assignedTo(intent);
    const hashes = [...paying.map(({ hash }) => hash), ...assigned.map(({ arrival }) => arrival.hash)];
    if (hashes.length > 0) {
      says(intent.status === 'finalized', `${hashes.join(' and ')} paid it`);
      says(
        hashes.some((hash) => hash === intent.settlement?.hash),
        `it counts ${intent.settlement?.hash}, and was paid by ${hashes[0]}`,
      );
      this.#received(intent, [...paying, ...assigned.map(({ arrival }) => arrival)]);
      return;
    }
    const { settlement } = intent;
    // Only the payer can send it again if it was undone before its bytes could be fetched, or what it waits for: a
    // payment of another intent too many, undone with it.
    if (
      settlement?.lost &&
      (this.#model.byHand.has(settlement.hash) ||
        this.#areForgotten(settlement.hash) ||
        this.#world.network.chain.isBehindGap(settlement.hash))
    )
      return;
    says(intent.status !== 'confirmed' && intent.status !== 'finalized', 'nothing on the chain pays it');
    // A refund lives for a day, and a submitted transaction of it may wait for a nonce.
    if (intent.refundOf !== null) return;
    require(intent.status !== 'created' && intent.status !== 'pending', 'nothing stands still', () =>
      `${intent.id} is ${intent.status} after its end; its submissions are ${JSON.stringify(
        intent.submissions.map(({ hash, status, attempts }) => [hash, status, attempts]),
      )}`);
  }
}
