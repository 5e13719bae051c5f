import { matchCommandId } from '@pf/contracts';
import type { AmountMatch, IntentQueries, ReservedAmounts } from '@pf/database';
import { type Deposit, type PaymentIntent, refusalOfAssignment } from '@pf/domain';
import { type Logger, PeriodicTask } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import type { Commands } from '../commands.ts';
import { requireCleanWallets, type ScreeningDependencies } from '../intents/clean-wallets.ts';

/** A payment by amount is confirmed about this much later than another. */
const PAUSE_MS = 500;
/** Of one run. */
const AT_ONCE = 20;
/** The log may tell of a deposit before the projection shows it: it is looked for again after this, then later. */
const UNSEEN_MS = 200;
const DOUBLED_MAX = 8;
/** So often a deposit is looked at again whose intent another deposit has paid: for about 25 s. */
const TRIES_OF_PAID = 6;
/** A rival may have ended for so long: who pays late may still mean it. */
const RIVAL_MS = 7 * 24 * 60 * 60 * 1000;

type Store = {
  readonly amounts: Pick<ReservedAmounts, 'takeDue' | 'settle' | 'postpone' | 'hasRival'>;
  readonly intents: Pick<IntentQueries, 'findDeposit' | 'findIntent'>;
};

/** What is done about a match; the reason is for the log. */
type Judgement =
  | { readonly kind: 'assign'; readonly deposit: Deposit; readonly intent: PaymentIntent }
  /** It was assigned before, and who had done so could not say. */
  | { readonly kind: 'assigned' }
  /** What is to be known of it may be known later. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'leave'; readonly reason: string };

const leave = (reason: string): Judgement => ({ kind: 'leave', reason });

const PAID = 'the intent is paid';

/** Why a deposit of exactly the intent's amount is left to its account; null where it is assigned. */
function reasonToLeave(deposit: Deposit, intent: PaymentIntent): string | null {
  const { state, level } = deposit;
  if (state !== 'open') return `the deposit is ${state}`;
  if (level !== 'confirmed' && level !== 'finalized') return `the deposit is ${level}`;
  if (deposit.reason !== 'no_reference') return 'the deposit carries a reference';
  if (intent.settlement !== null) {
    if (intent.status !== 'confirmed' && intent.status !== 'finalized') return 'a payment of the intent was undone';
    // It would be an extra payment: whether it was meant to be one, only people can say.
    if (!intent.settlement.lost) return PAID;
  }
  return refusalOfAssignment(deposit, intent)?.message ?? null;
}

/**
 * Assigns deposits to the intents whose amounts they have (docs/internals/decisions/0042-paid-by-amount.md), by the
 * command with which people do it. What is due is in Postgres, so every gateway does it, and what one of them forgets
 * another one does; the command has one id however often it is sent, so it is decided once.
 */
export class AmountKeeper {
  readonly #commands: Pick<Commands, 'requireOfDeposit'>;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #screening: ScreeningDependencies;
  readonly #stores: { readonly live: Store; readonly test: Store };
  readonly #task: PeriodicTask;

  constructor({
    adapters,
    commands,
    log,
    now,
    screening,
    stores,
  }: ScreeningDependencies & {
    readonly commands: Pick<Commands, 'requireOfDeposit'>;
    readonly now: () => number;
    readonly stores: { readonly live: Store; readonly test: Store };
  }) {
    this.#commands = commands;
    this.#log = log;
    this.#now = now;
    this.#screening = { adapters, screening, log };
    this.#stores = stores;
    this.#task = new PeriodicTask({
      work: () => this.assign(),
      pauseMs: PAUSE_MS,
      onFailure: (error) => log.warn({ err: error }, 'payments by amount cannot be assigned: will retry'),
    });
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
  }

  /** Assigns what is due. @throws if Postgres is unavailable */
  async assign(): Promise<void> {
    const due = await this.#stores.live.amounts.takeDue(this.#now(), AT_ONCE);
    await Promise.all(
      due.map(async (match) => {
        const { intentId, depositId } = match;
        try {
          await this.#assign(match);
        } catch (error) {
          this.#log.info({ err: error, intentId, depositId }, 'a deposit was not assigned by its amount: will retry');
        }
      }),
    );
  }

  async #assign(match: AmountMatch): Promise<void> {
    const { intentId, depositId, tries } = match;
    const { amounts } = this.#stores.live;
    const judgement = await this.#judge(match);
    if (judgement.kind === 'wait')
      return amounts.postpone(match, this.#now() + UNSEEN_MS * 2 ** Math.min(tries, DOUBLED_MAX));
    const reason = judgement.kind === 'assign' ? await this.#send(match, judgement) : null;
    const left = judgement.kind === 'leave' ? judgement.reason : reason;
    await amounts.settle(match, left === null);
    if (left !== null) this.#log.info({ intentId, depositId, reason: left }, 'a deposit is left to its account');
  }

  async #judge({ intentId, depositId, accountId, livemode, tries, isSecond }: AmountMatch): Promise<Judgement> {
    const { amounts, intents } = this.#stores[livemode ? 'live' : 'test'];
    const owner = { accountId, livemode };
    const deposit = await intents.findDeposit(depositId, owner);
    const intent = deposit && (await intents.findIntent(intentId, owner));
    if (!deposit || !intent) return { kind: 'wait' };
    if (deposit.heldFrom !== undefined || intent.heldFrom !== undefined) return { kind: 'wait' };
    if (deposit.state === 'assigned' && deposit.intentId === intentId) return { kind: 'assigned' };
    const reason = reasonToLeave(deposit, intent);
    // A reorg may have undone the deposit that has paid it, and this may be the same transfer. Another partition tells
    // the intent of that.
    if (reason === PAID && intent.settlement?.depositId !== undefined && tries <= TRIES_OF_PAID)
      return { kind: 'wait' };
    if (reason !== null) return leave(reason);
    if (isSecond) return leave('another account has reserved the amount of the wallet before');
    if (await amounts.hasRival(intent, deposit.createdAt - RIVAL_MS))
      return leave('another intent of the wallet asks for the same amount');
    return { kind: 'assign', deposit, intent };
  }

  /** @returns why the deposit is not assigned; null where it is. @throws where that is to be tried again */
  async #send(
    { intentId, depositId, depositVersion, accountId, livemode }: AmountMatch,
    { deposit, intent }: Extract<Judgement, { kind: 'assign' }>,
  ): Promise<string | null> {
    const { chain, requestor } = intent;
    const holder = { accountId, livemode };
    try {
      const wallets = { chain, requestor, fulfiller: deposit.arrival.from };
      await requireCleanWallets(this.#screening, wallets, { holder, what: 'assign', intentId });
      await this.#commands.requireOfDeposit(
        { type: 'assign_deposit', intentId, depositId, accountId, livemode },
        matchCommandId(intentId, depositId, depositVersion),
      );
      return null;
    } catch (error) {
      // What is unavailable or limited passes; anything else is an answer.
      if (error instanceof ApiError && error.status >= 400 && error.status < 429) return error.code;
      throw error;
    }
  }
}
