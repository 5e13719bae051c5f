import type { Unexpected } from '../../src/api/client.ts';
import type { Attempt, CallsStatus, Money, MoneyEvent } from '../../src/pay/money.ts';
import type { Step } from '../../src/pay/state.ts';
import type { Note, Status } from '../../src/pay/status.ts';

/** What is tested: the page's knowledge and its texts. */
export interface Machine {
  readonly start: Money;
  advance(money: Money, event: MoneyEvent): Money;
  statusOf(state: { readonly missing: null; readonly money: Money; readonly step: Step }): Status;
  noteOf(money: Money): Note;
}

/** What a wallet really did when it was asked, whatever it says. */
export interface Ask {
  readonly id: string;
  readonly tab: Tab;
  readonly onlySigns: boolean;
  /**
   * `open`: it may still send. `with_service`: what it signed may be broadcast. `with_sponsor`: or sent by a sponsor.
   * `dead`: it can never land.
   */
  fate: 'open' | 'with_service' | 'with_sponsor' | 'out' | 'landed' | 'dead';
  isRight: boolean;
  /** Whether the page waits for the wallet's answer. */
  isAwaited: boolean;
  saidSent: boolean;
  /** Whether it has named calls, and no transaction of them yet. */
  hasOnlyCalls: boolean;
  /** What it has said last of its calls, to each tab. */
  readonly saidOfCalls: Map<Tab, CallsStatus>;
  /** It has said of its calls that a part of them is on the chain. */
  saidPartly: boolean;
  /** Whether a page has what it can tell the service: a hash, or what was signed. */
  isInHand: boolean;
  /** A sponsor has what was signed: the service builds nothing else while that can land, or has landed. */
  isSponsored: boolean;
  /** Nothing was ever sent, and the page was told so. */
  isDeclined: boolean;
}

/** A tab of the browser: the page, and what the person has been told in it. */
export interface Tab {
  money: Money;
  step: Step;
  wasWarned: boolean;
  /** How much of what happened to the intent it has heard. */
  heard: number;
}

type Seen = NonNullable<Money['intent']>;
type News = { readonly seen: Seen } | { readonly unexpected: Unexpected };

const choosing: Step = { kind: 'choosing' };
const hashOf = (id: string): string => `hash of ${id}`;

/** Wallets, the chain and the service as they are, and the tabs that hear of them. */
export class World {
  readonly asks: Ask[] = [];
  readonly tabs: Tab[];
  readonly arrived = new Set<Unexpected['type']>();
  wasPending = false;
  isPaid = false;
  #now = 0;
  #kept: readonly Attempt[] = [];
  readonly #news: News[] = [];
  #claimed: Ask | null = null;
  intent: Seen = {
    state: 'created',
    pendingAtExpiry: false,
    retryRequired: false,
    txSignature: null,
    updatedAt: new Date(0).toISOString(),
  };
  /** The texts that were shown, in this and other walks. */
  readonly said: Set<string>;
  readonly #machine: Machine;

  constructor(machine: Machine, said: Set<string>) {
    this.#machine = machine;
    this.said = said;
    this.#news.push({ seen: this.intent });
    this.tabs = [0, 1].map(() => ({ money: machine.start, step: choosing, wasWarned: false, heard: 0 }));
    for (const tab of this.tabs) this.reload(tab);
  }

  get newsCount(): number {
    return this.#news.length;
  }

  /** The status of a tab. */
  statusOf({ money, step }: Tab): Status {
    return this.#machine.statusOf({ missing: null, money, step });
  }

  noteOf({ money }: Tab): Note {
    return this.#machine.noteOf(money);
  }

  /** Time passes, and other tabs hear of what is stored. */
  tick(): void {
    this.#now += 1_000;
    for (const tab of this.tabs) tab.money = this.#machine.advance(tab.money, { type: 'stored', attempts: this.#kept });
  }

  know(tab: Tab, event: MoneyEvent): void {
    const stored = this.#machine.advance(tab.money, { type: 'stored', attempts: this.#kept });
    tab.money = this.#machine.advance(stored, event);
    this.#kept = tab.money.attempts;
  }

  /** The page starts from what is stored, and reads all that happened to the intent. */
  reload(tab: Tab): void {
    for (const ask of this.asks.filter((one) => one.tab === tab)) {
      ask.isAwaited = false;
      // What was only signed is lost with the page.
      if (ask.onlySigns) ask.isInHand = false;
    }
    Object.assign(tab, { money: this.#machine.start, step: choosing, wasWarned: false, heard: 0 });
    this.hear(tab);
  }

  /** The stream brings the tab what has happened. */
  hear(tab: Tab): void {
    for (const news of this.#news.slice(tab.heard))
      if ('seen' in news) this.#see(tab, news.seen);
      else this.know(tab, { type: 'arrived', unexpected: news.unexpected });
    tab.heard = this.#news.length;
  }

  #see(tab: Tab, intent: Seen): void {
    this.know(tab, { type: 'seen', intent });
    if (intent.state !== 'created') tab.step = choosing;
  }

  become(changes: Partial<Seen>): void {
    this.intent = { ...this.intent, ...changes, updatedAt: new Date(this.#now).toISOString() };
    if (this.intent.state === 'pending') this.wasPending = true;
    if (['confirmed', 'finalized'].includes(this.intent.state)) this.isPaid = true;
    this.#news.push({ seen: this.intent });
  }

  arrive(type: Unexpected['type'], txSignature: string): void {
    this.arrived.add(type);
    this.#news.push({ unexpected: { type, payment: { txSignature, sender: '', amount: '1', differs: [] } } });
  }

  ask(tab: Tab, onlySigns: boolean): void {
    // The service builds nothing for what is paid or over, and nothing else while a sponsor can send what it has.
    if (this.intent.state !== 'created') return;
    for (const held of this.asks) if (held.fate === 'with_sponsor') held.fate = 'dead';
    this.know(tab, { type: 'rebuilt' });
    const id = `ask ${this.asks.length}`;
    this.asks.push({
      id,
      tab,
      onlySigns,
      fate: 'open',
      isRight: true,
      isAwaited: true,
      saidSent: false,
      hasOnlyCalls: false,
      saidOfCalls: new Map(),
      saidPartly: false,
      isInHand: false,
      isSponsored: false,
      isDeclined: false,
    });
    tab.step = { kind: 'confirming' } as Step;
    tab.wasWarned = false;
    this.know(tab, { type: 'asked', id, at: this.#now, payer: 'payer', wallet: 'wallet' });
  }

  /** A wallet sends behind the page's back, or what was proposed or called is sent at last. */
  send(ask: Ask): void {
    ask.fate = 'out';
  }

  /** What a wallet says to the page. It declines only what it has not sent; no other error says anything. */
  answer(ask: Ask, how: Answer): void {
    const { tab, id } = ask;
    ask.isAwaited = false;
    tab.step = choosing;
    if (how === 'declines' && ask.fate === 'open') {
      Object.assign(ask, { fate: 'dead', isDeclined: true });
      return this.know(tab, { type: 'not_sent', id });
    }
    if (how === 'declines' || how === 'fails') return this.know(tab, { type: 'failed', id });
    if (how === 'sends_and_fails' && !ask.onlySigns) {
      ask.fate = 'out';
      return this.know(tab, { type: 'failed', id });
    }
    ask.isInHand = how !== 'has_calls' || ask.onlySigns;
    if (ask.onlySigns) {
      ask.fate = 'with_service';
      return this.know(tab, { type: 'signed', id, hash: how === 'sends' ? hashOf(id) : null });
    }
    ask.saidSent = true;
    ask.isRight = how !== 'sends_otherwise';
    if (how === 'sends' || how === 'sends_otherwise') ask.fate = 'out';
    if (how === 'has_calls') {
      ask.hasOnlyCalls = true;
      ask.saidOfCalls.set(tab, 'pending');
    }
    const names = how === 'has_calls' ? { hash: null, callsId: 'calls' } : { hash: hashOf(id), callsId: null };
    this.know(tab, { type: 'sent', id, ...names });
  }

  /** A tab asks a wallet for its calls. It says whatever it likes, and names a transaction only of what it has sent. */
  askOfCalls(tab: Tab, ask: Ask, status: CallsStatus): void {
    ask.saidOfCalls.set(tab, status);
    if (status === 'partly') ask.saidPartly = true;
    const isNamed = status === 'included' && (ask.fate === 'out' || ask.fate === 'landed');
    if (isNamed) Object.assign(ask, { isInHand: true, hasOnlyCalls: false });
    this.know(tab, { type: 'calls', id: ask.id, status, hash: isNamed ? hashOf(ask.id) : null });
  }

  /** A tab tells the service of what a wallet made. */
  submit(tab: Tab, ask: Ask, response: SubmitResponse): void {
    const { id } = ask;
    if (response === 'lost') return this.know(tab, { type: 'lost', id });
    const isHeld = ask.fate === 'with_service';
    if (isHeld && response === 'sponsor_failed') {
      Object.assign(ask, { fate: 'with_sponsor', isSponsored: true, isInHand: false });
      return this.know(tab, { type: 'sponsor_failed', id });
    }
    if (!isHeld && ask.fate !== 'out' && ask.fate !== 'landed') return this.know(tab, { type: 'lost', id });
    if (response === 'refused' || ask.fate === 'landed' || !ask.isRight || this.intent.state !== 'created') {
      // The service broadcasts nothing that it refuses.
      if (isHeld) ask.fate = 'dead';
      ask.isInHand = false;
      return this.know(tab, { type: 'refused', id, isMismatch: !ask.isRight });
    }
    ask.fate = 'out';
    this.#claimed = ask;
    this.become({ state: 'pending', txSignature: hashOf(id), retryRequired: false });
    if (response === 'accepted_but_lost') return this.know(tab, { type: 'lost', id });
    ask.isInHand = false;
    this.know(tab, { type: 'accepted', id, hash: hashOf(id) });
    this.hear(tab);
  }

  /** What is out lands, reverts or is dropped. */
  settle(ask: Ask, how: 'lands' | 'reverts' | 'drops'): void {
    const isClaimed = this.#claimed === ask && this.intent.state === 'pending';
    if (how !== 'lands') {
      ask.fate = 'dead';
      if (isClaimed && how === 'drops') this.become({ state: 'created', retryRequired: true, txSignature: null });
      if (isClaimed && how === 'reverts') this.become({ state: 'failed' });
      return;
    }
    ask.fate = 'landed';
    if (!ask.isRight) return this.arrive('intent.mismatched_payment', hashOf(ask.id));
    this.pay(hashOf(ask.id));
  }

  end(state: 'expired' | 'cancelled'): void {
    const isPending = this.intent.state === 'pending';
    if (this.intent.state !== 'created' && !(isPending && state === 'expired')) return;
    this.become({ state, pendingAtExpiry: isPending });
  }

  /** A payment with the reference lands: of a wallet that was asked here, or on another device. */
  pay(txSignature: string): void {
    switch (this.intent.state) {
      case 'confirmed':
      case 'finalized':
        return this.arrive('intent.extra_payment', txSignature);
      case 'expired':
      case 'cancelled':
      case 'failed':
        this.become({ state: 'confirmed', txSignature });
        return this.arrive('intent.late_payment', txSignature);
      case 'created':
      case 'pending':
        this.become({ state: 'confirmed', txSignature });
    }
  }
}

export const ANSWERS = [
  'declines',
  'fails',
  'sends',
  'sends_otherwise',
  'sends_and_fails',
  'has_calls',
  'proposes',
] as const;
export type Answer = (typeof ANSWERS)[number];
export const RESPONSES = ['accepted', 'accepted_but_lost', 'lost', 'refused', 'sponsor_failed'] as const;
export type SubmitResponse = (typeof RESPONSES)[number];

/** Whether money may have moved, or may yet. */
export const isAlive = ({ fate }: Ask): boolean => fate !== 'dead';
/** The service itself keeps what a sponsor has from being paid twice. */
export const isUnguarded = (ask: Ask): boolean => isAlive(ask) && !ask.isSponsored;
