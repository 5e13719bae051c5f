import type { Network } from '@pf/chains/networks';
import { type Client, UNEXPECTED, type Unexpected } from '../api/client.ts';
import { ApiError } from '../api/requests.ts';
import { type Connection, follow } from '../api/follow.ts';
import type { Intent, IntentEvent, Unsigned } from '../api/schemas.ts';
import { check } from '../check/check.ts';
import { differencesBetween, type Terms, termsOf } from '../check/terms.ts';
import { walletOf } from '../wallets/load.ts';
import type { Outcome, Session, Wallet, Wallets } from '../wallets/wallet.ts';
import {
  advance,
  type Attempt,
  type CallsStatus,
  isFull,
  isWaiting,
  type Money,
  type MoneyEvent,
  noMoney,
} from './money.ts';
import { isOfSponsor, Problem, type ProblemKind, problemOf, provesNothingSent } from './problem.ts';
import { type Kept, recall, remember } from './remembered.ts';
import type { Ready, State, Step } from './state.ts';
import { isGuarded } from './status.ts';

const PAUSE_MS = { least: 1_000, most: 15_000 };
/** Between looks whether what was built for a sponsor has ended. */
const ENDING_PAUSE_MS = 4_000;
/** After that, until the service has surely found what landed before. */
const LAST_PAUSE_MS = 8_000;
/** So long the page goes on telling the service of a hash that no node shows. */
const UNSEEN_MAX_MS = 15 * 60_000;

/** Without an end of its own, a transaction is built again for its fees. */
const FEES_OLD_MS = 600_000;
/** After this part of its life: the rest is for the person in the wallet, and the network. */
const SIGNED_WITHIN = 1 / 3;

/** @param now by the service's clock, in ms */
const signByOf = ({ expiresAt }: Unsigned, now: number): number =>
  now + (expiresAt === null ? FEES_OLD_MS : (Date.parse(expiresAt) - now) * SIGNED_WITHIN);

/** Owners of a smart wallet may take hours to confirm. */
const CALLS_PAUSE_GROWTH = 1.25;
/** What is said of calls that have failed by the wallet's word. */
const FAILED: Partial<Readonly<Record<CallsStatus, ProblemKind>>> = {
  given_up: 'calls_given_up',
  reverted: 'calls_reverted',
};

const choosing: Step = { kind: 'choosing' };

/** A payment in a browser: what is known of it, and what the person does. */
export class Checkout {
  state: State = {
    intent: null,
    merchant: null,
    solanaPayToken: null,
    hasSponsor: false,
    connection: 'live',
    money: noMoney,
    step: choosing,
    problem: null,
    missing: null,
  };
  readonly #listeners = new Set<() => void>();
  readonly #ended = new AbortController();
  #unwatch: () => void = () => undefined;
  /** Counts what the person begins, so that an answer to what was given up changes nothing. */
  #turn = 0;
  /** The wallet that was chosen last. */
  #wallet: Wallet | null = null;
  #paymasterUrl: string | null = null;

  readonly #client: Client;
  readonly #intentId: string;
  readonly #kept: Kept;

  readonly #walletsOn: (network: Network) => Promise<Wallets>;

  constructor(client: Client, intentId: string, kept: Kept, walletsOn: (network: Network) => Promise<Wallets>) {
    this.#client = client;
    this.#intentId = intentId;
    this.#kept = kept;
    this.#walletsOn = walletsOn;
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Loads the payment, then follows it. */
  async start(): Promise<void> {
    this.#set({ missing: null });
    void this.#loadMerchant();
    try {
      const [{ intent, solanaPayToken, hasSponsor, paymasterUrl }, unexpected] = await Promise.all([
        this.#client.fetchIntent(),
        this.#client.fetchUnexpected(),
      ]);
      this.#paymasterUrl = paymasterUrl;
      this.#set({ solanaPayToken, hasSponsor });
      for (const one of unexpected) this.#know({ type: 'arrived', unexpected: one });
      this.#see(intent);
      this.#recover(intent);
    } catch (error) {
      const isUnknown = error instanceof ApiError && (error.status === 404 || error.status === 401);
      this.#set({ missing: isUnknown ? 'unknown' : 'unreachable' });
      return;
    }
    const onEvent = ({ type, data: { payment } }: IntentEvent): void => {
      if (!payment || !UNEXPECTED.has(type)) return;
      this.#know({ type: 'arrived', unexpected: { type: type as Unexpected['type'], payment } });
    };
    const source = {
      openStream: (after: string | null, signal: AbortSignal) => this.#client.openStream(after, signal),
      fetchIntent: () => this.#client.fetchIntent(),
    };
    const follower = {
      onIntent: (intent: Intent) => this.#see(intent),
      onEvent,
      onConnection: (connection: Connection) => this.#set({ connection }),
      isWaiting: () => isWaiting(this.state.money),
    };
    await follow(source, follower, this.#ended.signal);
  }

  stop(): void {
    this.#ended.abort();
    this.#unwatch();
  }

  /** Asks a wallet for an account and builds the payment for it. */
  async connect(wallet: Wallet): Promise<void> {
    const { intent } = this.state;
    const terms = intent && termsOf(intent);
    if (!intent) return;
    if (!terms) return this.#set({ step: { kind: 'stopped', differs: ['token'] } });
    // Who only looks at the page may show it to the payer: it is found by whoever chooses a wallet.
    if (intent.detectedAt === null) void this.#detect();
    const turn = this.#begin({ kind: 'connecting', wallet });
    this.#wallet = wallet;
    try {
      const payer = intent.direction === 'send' ? intent.fulfiller : null;
      const paymasterUrl = this.state.hasSponsor ? this.#paymasterUrl : null;
      const session = await wallet.connect({ network: terms.network, payer, not: intent.requestor, paymasterUrl });
      if (turn !== this.#turn) return;
      this.#set({ step: { kind: 'building', wallet } });
      const ready = await this.#build(wallet, session, terms, turn);
      if (ready === null) return;
      this.#set({ step: { kind: 'ready', ...ready } });
      // Another account needs another transaction.
      this.#unwatch = session.onChange(() => {
        const { step } = this.state;
        if (step.kind === 'ready' && step.session === session) void this.connect(wallet);
      });
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /** Goes on with the wallet that was chosen last, without the merchant's sponsor. */
  async payOwnFee(): Promise<void> {
    if (isGuarded(this.state.money)) this.#know({ type: 'restarted' });
    this.#set({ hasSponsor: false });
    if (this.#wallet) await this.connect(this.#wallet);
  }

  /** Lets the person sign in the wallet, and tells the service. */
  async pay(): Promise<void> {
    const { step, intent } = this.state;
    if (step.kind !== 'ready' || !intent) return;
    const { wallet, session } = step;
    const turn = ++this.#turn;
    const shown = termsOf(intent);
    let ready: Ready | null = step;
    let outcome: Outcome;
    const id = `${Date.now()}-${Math.random()}`;
    let isAsked = false;
    const onAsk = (): void => {
      // A wallet that does not know one method is asked by another.
      if (isAsked) return;
      isAsked = true;
      this.#know({ type: 'asked', id, at: this.#client.now(), payer: session.account, wallet: wallet.key });
    };
    try {
      if (!shown) return this.#set({ step: { kind: 'stopped', differs: ['token'] } });
      this.#set({ step: { ...step, kind: 'confirming' }, problem: null });
      const isOld = this.#client.now() > step.signBy;
      if (isOld || differencesBetween(step.terms, shown).length > 0)
        ready = await this.#build(wallet, session, shown, turn);
      if (ready === null) return;
      // The person has agreed to what the page said of the fee.
      if (ready.payment.isSponsored !== step.payment.isSponsored)
        return this.#set({ step: { kind: 'ready', ...ready } });
      this.look();
      // Another tab has asked a wallet meanwhile: the person is told first.
      if (isGuarded(this.state.money)) return void this.#begin(choosing);
      if (isFull(this.state.money)) throw new Problem('limit');
      outcome = await session.pay(ready.payment, onAsk);
    } catch (error) {
      const problem = problemOf(error);
      if (isAsked) this.#know({ type: provesNothingSent(problem) ? 'not_sent' : 'failed', id });
      if (turn !== this.#turn) return;
      const isSafe = !isGuarded(this.state.money);
      this.#set({ step: isSafe ? { ...(ready ?? step), kind: 'ready' } : choosing, problem });
      void this.#refreshAfter(error);
      return;
    }
    // The person has gone back, and what was signed is nowhere but here.
    if (turn !== this.#turn && outcome.kind === 'signed') return this.#know({ type: 'not_sent', id });
    await this.#tell(outcome, id, session.account, wallet);
  }

  /** Tells the service what a wallet has made. Nothing is awaited before it is known: the money may be on its way. */
  async #tell(outcome: Outcome, id: string, payer: string, wallet: Wallet): Promise<void> {
    if (outcome.kind === 'signed') this.#know({ type: 'signed', id, hash: outcome.hash });
    else {
      const [hash, callsId] = outcome.kind === 'sent' ? [outcome.hash, null] : [null, outcome.id];
      this.#know({ type: 'sent', id, hash, callsId });
    }
    const turn = this.#begin(choosing);
    try {
      if (outcome.kind === 'signed') return await this.#submit(outcome.transaction, id, payer);
      if (outcome.kind === 'sent') return await this.#tellSent(outcome, id, payer);
      await this.#followCalls(wallet, { id, payer, callsId: outcome.id });
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /**
   * Of a transaction that it has the service follows how it ends; of a hash that no node shows it can say nothing. What
   * it refuses may have landed all the same.
   */
  async #tellSent({ hash, signed }: Extract<Outcome, { kind: 'sent' }>, id: string, payer: string): Promise<void> {
    const transaction = await signed();
    try {
      if (transaction !== null) return await this.#submit(transaction, id, payer);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
    await this.#submit(hash, id, payer);
  }

  /**
   * Asks a smart wallet for its calls until it names their transaction or says that they have failed. Where it never
   * does, the payment is found by its reference.
   * @throws Problem
   */
  async #followCalls(
    { name, callsOf }: Wallet,
    { id, payer, callsId }: Pick<Attempt, 'id' | 'payer'> & { readonly callsId: string },
  ): Promise<void> {
    let pauseMs = PAUSE_MS.least;
    while (callsOf && !this.#ended.signal.aborted && this.state.intent?.state === 'created') {
      const { status, hash } = await callsOf(callsId);
      this.#know({ type: 'calls', id, status, hash });
      if (hash !== null) return this.#submit(hash, id, payer);
      const kind = FAILED[status];
      if (kind !== undefined) throw new Problem(kind, { wallet: name });
      // A part of it is on the chain: the status says it all.
      if (status === 'partly') return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(pauseMs * CALLS_PAUSE_GROWTH, PAUSE_MS.most);
    }
  }

  /** Back to the choice of a wallet. */
  back(): void {
    this.#begin(choosing);
  }

  /** Lets the person pay who was told what may happen. */
  restart(): void {
    this.#know({ type: 'restarted' });
    this.#begin(choosing);
  }

  /** Reads what other tabs have kept. */
  look(): void {
    this.#set({ money: this.#stored() });
  }

  async #loadMerchant(): Promise<void> {
    try {
      this.#set({ merchant: await this.#client.fetchMerchant() });
    } catch {
      // The payment can be paid without a logo; the stream's next answer does not bring it, a reload does.
      this.#set({ merchant: null });
    }
  }

  async #detect(): Promise<void> {
    try {
      this.#see(await this.#client.detected());
    } catch {
      // A courtesy to the shop: nothing depends on it.
    }
  }

  /**
   * Null if what was built is not what is shown, or is wanted no more. The merchant pays the fee where it offers to and
   * the wallet allows it. While a transaction that was built for its sponsor can land, the service builds no other one,
   * so that nothing is paid twice.
   */
  async #build(wallet: Wallet, session: Session, terms: Terms, turn: number): Promise<Ready | null> {
    const isForSponsor = this.state.hasSponsor && (session.signsOnly || session.asksPaymaster);
    let wasAlive = false;
    for (;;) {
      const built = await this.#buildOnce(wallet, session, terms, turn, isForSponsor);
      if (built === null || isForSponsor) return built;
      const isAlive = built.payment.isSponsored;
      if (!isAlive && !wasAlive) {
        this.#know({ type: 'rebuilt' });
        return built;
      }
      this.#set({ step: { kind: 'ending', wallet } });
      // What has landed at the last moment ends this before the person can sign again.
      await new Promise((resolve) => setTimeout(resolve, isAlive ? ENDING_PAUSE_MS : LAST_PAUSE_MS));
      if (turn !== this.#turn || this.#ended.signal.aborted) return null;
      wasAlive = isAlive;
    }
  }

  async #buildOnce(
    wallet: Wallet,
    session: Session,
    terms: Terms,
    turn: number,
    isForSponsor: boolean,
  ): Promise<Ready | null> {
    const { intent, transaction } = await this.#client.build(session.account, isForSponsor);
    this.#see(intent);
    const checked = await check(transaction, terms, session.account);
    if (turn !== this.#turn) return null;
    // The answer may have changed what the page shows: the person has agreed to what it showed before.
    const shown = this.state.intent && termsOf(this.state.intent);
    const changed = shown ? differencesBetween(terms, shown) : (['token'] as const);
    const differs = [...changed, ...(checked.ok ? [] : checked.differs)];
    if (!checked.ok || differs.length > 0) {
      this.#set({ step: { kind: 'stopped', differs: [...new Set(differs)] } });
      return null;
    }
    const signBy = signByOf(transaction, this.#client.now());
    return { wallet, session, unsigned: transaction, payment: checked.payment, terms, signBy };
  }

  /**
   * Tells the service until it knows: a hash that a wallet has just sent may be unknown to its nodes for a while. It
   * goes on whatever the person does meanwhile.
   */
  async #submit(signed: string, id: string, payer: string): Promise<void> {
    let pauseMs = PAUSE_MS.least;
    const since = Date.now();
    while (!this.#ended.signal.aborted) {
      try {
        const intent = await this.#client.submit(signed, payer);
        this.#know({ type: 'accepted', id, hash: intent.txSignature });
        this.#see(intent);
        return;
      } catch (error) {
        const event = eventOf(error);
        this.#know({ ...event, id });
        if (this.#isPaid() || (error instanceof ApiError && error.code === 'intent.already_fulfilled')) return;
        if (event.type !== 'lost') throw error;
        // The person was told all the time that it is out.
        if (Date.now() - since > UNSEEN_MAX_MS) return;
        const wait = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
        await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(wait, pauseMs), PAUSE_MS.most)));
        pauseMs *= 2;
      }
    }
  }

  /** After a reload: what a wallet had sent is told to the service again, and a smart wallet is asked for its calls. */
  #recover(intent: Intent): void {
    if (intent.state !== 'created') return;
    const turn = this.#turn;
    for (const attempt of this.state.money.attempts)
      this.#followUp(attempt, intent).catch((error: unknown) => {
        if (turn === this.#turn) this.#fail(error);
      });
  }

  async #followUp({ id, hash, callsId, payer, wallet: key }: Attempt, intent: Intent): Promise<void> {
    if (hash !== null) return this.#submit(hash, id, payer);
    const network = termsOf(intent)?.network;
    if (callsId === null || !network) return;
    await this.#followCalls(await walletOf(await this.#walletsOn(network), key), { id, payer, callsId });
  }

  #isPaid(): boolean {
    const state = this.state.intent?.state;
    return state === 'pending' || state === 'confirmed' || state === 'finalized';
  }

  /** The only way in which what is known of the money changes. It is kept before anything else happens. */
  #know(event: MoneyEvent): void {
    const money = advance(this.#stored(), event);
    remember(this.#kept, this.#intentId, money.attempts);
    this.#set({ money });
  }

  #stored(): Money {
    return advance(this.state.money, { type: 'stored', attempts: recall(this.#kept, this.#intentId) });
  }

  #begin(step: Step): number {
    this.#unwatch();
    this.#unwatch = () => undefined;
    this.#set({ step, problem: null });
    return ++this.#turn;
  }

  #fail(error: unknown): void {
    this.#set({ step: choosing, problem: problemOf(error) });
    void this.#refreshAfter(error);
  }

  /** What is refused for the state of the payment shows when the state is known. */
  async #refreshAfter(error: unknown): Promise<void> {
    if (!(error instanceof ApiError) || error.status !== 409) return;
    try {
      this.#see((await this.#client.fetchIntent()).intent);
    } catch {
      // The stream will tell.
    }
  }

  /** Takes what is newer: answers and the stream overtake each other. */
  #see(intent: Intent): void {
    const known = this.state.intent;
    if (known !== null && known.updatedAt > intent.updatedAt) return;
    this.#know({ type: 'seen', intent });
    const isOver = intent.state !== 'created';
    const wasPending = known?.state === 'pending';
    if (isOver || wasPending) {
      if (this.state.step.kind !== 'choosing') this.#begin(choosing);
      this.#set({ intent, problem: null });
    } else this.#set({ intent });
  }

  #set(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
    this.#listeners.forEach((listener) => listener());
  }
}

/** What a refused submit says of the money. */
function eventOf(
  error: unknown,
): { readonly type: 'lost' | 'sponsor_failed' } | { readonly type: 'refused'; readonly isMismatch: boolean } {
  const { kind } = problemOf(error);
  if (isOfSponsor(kind)) return { type: 'sponsor_failed' };
  const isFinal = error instanceof ApiError && error.retryAfterMs === null;
  return isFinal ? { type: 'refused', isMismatch: kind === 'signed_otherwise' } : { type: 'lost' };
}
