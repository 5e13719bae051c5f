import { type Client, UNEXPECTED, type Unexpected } from '../api/client.ts';
import { ApiError } from '../api/requests.ts';
import { type Connection, follow } from '../api/follow.ts';
import type { Intent, IntentEvent, Merchant, Unsigned } from '../api/schemas.ts';
import { check, type Payment } from '../check/check.ts';
import type { Difference } from '../check/checked.ts';
import { differencesBetween, type Terms, termsOf } from '../check/terms.ts';
import type { Outcome, Session, Wallet } from '../wallets/wallet.ts';
import { type Problem, problemOf } from './problem.ts';
import { forget, recall, remember } from './remembered.ts';

/** How far the person is with a wallet. */
export type Step =
  | { readonly kind: 'choosing' }
  | { readonly kind: 'connecting' | 'building'; readonly wallet: Wallet }
  /** What was built for a sponsor may still be sent by it: nothing else is built until that is over. */
  | { readonly kind: 'ending'; readonly wallet: Wallet }
  | ({ readonly kind: 'ready' | 'confirming' } & Ready)
  /** The service is told; or the wallet has sent, and the service does not see it yet. */
  | { readonly kind: 'sending'; readonly since: number; readonly isUnseen: boolean }
  /** What was built is not what is shown. */
  | { readonly kind: 'stopped'; readonly differs: readonly Difference[] };

interface Ready {
  readonly wallet: Wallet;
  readonly session: Session;
  readonly unsigned: Unsigned;
  readonly payment: Payment;
  /** What the payment was compared with. */
  readonly terms: Terms;
  /** ms, by the service's clock: from then on it is built again before a wallet signs it. */
  readonly signBy: number;
}

/** Everything that the page shows. */
export interface State {
  readonly intent: Intent | null;
  readonly merchant: Merchant | null;
  readonly solanaPayToken: string | null;
  /** Whether the merchant offers to pay the fee, and the person has not chosen to pay it. */
  readonly hasSponsor: boolean;
  readonly connection: Connection;
  /** What arrived otherwise than asked for: the newest. */
  readonly unexpected: Unexpected | null;
  readonly step: Step;
  readonly problem: Problem | null;
  /** Why the payment itself cannot be shown. */
  readonly missing: 'unknown' | 'unreachable' | null;
}

type Kept = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

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

const choosing: Step = { kind: 'choosing' };

/** A payment in a browser: what is known of it, and what the person does. */
export class Checkout {
  state: State = {
    intent: null,
    merchant: null,
    solanaPayToken: null,
    hasSponsor: false,
    connection: 'live',
    unexpected: null,
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

  constructor(client: Client, intentId: string, kept: Kept) {
    this.#client = client;
    this.#intentId = intentId;
    this.#kept = kept;
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
      this.#set({ solanaPayToken, hasSponsor, unexpected: unexpected.at(-1) ?? null });
      this.#see(intent);
      this.#recover(intent);
    } catch (error) {
      const isUnknown = error instanceof ApiError && (error.status === 404 || error.status === 401);
      this.#set({ missing: isUnknown ? 'unknown' : 'unreachable' });
      return;
    }
    const onEvent = ({ type, data: { payment } }: IntentEvent): void => {
      if (payment && UNEXPECTED.has(type)) this.#set({ unexpected: { type: type as Unexpected['type'], payment } });
    };
    const source = {
      openStream: (after: string | null, signal: AbortSignal) => this.#client.openStream(after, signal),
      fetchIntent: () => this.#client.fetchIntent(),
    };
    const follower = {
      onIntent: (intent: Intent) => this.#see(intent),
      onEvent,
      onConnection: (connection: Connection) => this.#set({ connection }),
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
      outcome = await session.pay(ready.payment);
      // Before anything is awaited: from here on the money may be on its way.
      if (outcome.kind === 'sent') this.#remember(outcome.hash, session.account);
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#set({ step: { ...(ready ?? step), kind: 'ready' }, problem: problemOf(error) });
      void this.#refreshAfter(error);
      return;
    }
    // The person has gone back, and what was signed is nowhere but here.
    if (turn !== this.#turn && outcome.kind === 'signed') return;
    await this.#tell(outcome, session.account);
  }

  /** Tells the service what a wallet has made. */
  async #tell(outcome: Outcome, payer: string): Promise<void> {
    const turn = this.#begin({ kind: 'sending', since: Date.now(), isUnseen: false });
    try {
      if (outcome.kind === 'signed') return await this.#submit(outcome.transaction, payer, turn);
      const hash = outcome.kind === 'sent' ? outcome.hash : await outcome.hash();
      // A smart wallet that never says it: the payment is found by its reference.
      if (hash === null) return;
      if (outcome.kind === 'calls') this.#remember(hash, payer);
      await this.#submit(hash, payer, turn);
    } catch (error) {
      if (turn === this.#turn) this.#fail(error);
    }
  }

  /** Back to the choice of a wallet. */
  back(): void {
    if (this.state.step.kind === 'sending') forget(this.#kept, this.#intentId);
    this.#begin(choosing);
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
      if (!isAlive && !wasAlive) return built;
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

  /** Tells the service until it knows: a hash that a wallet has just sent may be unknown to its nodes for a while. */
  async #submit(signed: string, payer: string, turn: number): Promise<void> {
    let pauseMs = PAUSE_MS.least;
    const since = Date.now();
    while (turn === this.#turn && !this.#ended.signal.aborted) {
      try {
        this.#see(await this.#client.submit(signed, payer));
        return;
      } catch (error) {
        const problem = problemOf(error);
        const isUnseen = error instanceof ApiError && error.code === 'transaction.not_visible';
        const isTemporary = ['offline', 'unavailable', 'too_many'].includes(problem.kind);
        if (this.#isPaid() || (error instanceof ApiError && error.code === 'intent.already_fulfilled')) return;
        if (!isTemporary || Date.now() - since > UNSEEN_MAX_MS) {
          // What the service will not take must not be offered to it at each reload.
          if (!isTemporary) forget(this.#kept, this.#intentId);
          throw error;
        }
        if (isUnseen) this.#set({ step: { kind: 'sending', since, isUnseen } });
        const wait = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
        await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(wait, pauseMs), PAUSE_MS.most)));
        pauseMs *= 2;
      }
    }
  }

  /** After a reload: what a wallet had sent is told to the service again. */
  #recover(intent: Intent): void {
    const sent = recall(this.#kept, this.#intentId);
    if (sent === null || intent.state !== 'created') return;
    const turn = this.#begin({ kind: 'sending', since: Date.now(), isUnseen: true });
    this.#submit(sent.hash, sent.payer, turn).catch((error: unknown) => {
      if (turn === this.#turn) this.#fail(error);
    });
  }

  #isPaid(): boolean {
    const state = this.state.intent?.state;
    return state === 'pending' || state === 'confirmed' || state === 'finalized';
  }

  #remember(hash: string, payer: string): void {
    remember(this.#kept, this.#intentId, { hash, payer, at: this.#client.now() });
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
    const isOver = intent.state !== 'created';
    // What was sent before a drop is what was dropped.
    const isDropped =
      intent.retryRequired && (recall(this.#kept, this.#intentId)?.at ?? 0) < Date.parse(intent.updatedAt);
    if (isOver || isDropped) forget(this.#kept, this.#intentId);
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
