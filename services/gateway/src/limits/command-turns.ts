import type { AccountId, DepositId, IntentId } from '@pf/domain';
import { count, KeyedPlaces } from '@pf/runtime';
import { ApiError } from '../api-error.ts';

/**
 * Commands that one gateway has under way in one partition: of a live account, of a test account, and of all test
 * accounts together. A batch of the writer takes 200.
 */
const UNDER_WAY = { live: 64, test: 16, allTest: 64 } as const;
/** Those of an account's payers, beside them: of a live account, of a test account, and of one intent. */
const PAYERS_UNDER_WAY = { live: 32, test: 8, intent: 4 } as const;
/** Commands of one account that may wait for their turn in one partition; what comes beyond is refused at once. */
const WAITING = 512;
/**
 * How long one waits, for all its turns: of the 8.5 s until a request gives up, the most must be left for the writer.
 */
const WAIT_MS = 3_000;
const RETRY_AFTER_SECONDS = 1;

/** Whose command it is, and where it goes. */
export interface CommandOrigin {
  readonly accountId: AccountId;
  readonly livemode: boolean;
  readonly partition: number;
  /** What it is about. */
  readonly subject: IntentId | DepositId;
  /** Whether a payer sends it. */
  readonly byPayer: boolean;
}

/**
 * Bounds the commands of an account that wait in a partition, so that the commands of others are decided soon after
 * they come (docs/internals/decisions/0018-fair-turns-at-the-gateway.md).
 */
export class CommandTurns {
  readonly #factor: number;
  readonly #places = new KeyedPlaces(WAITING);

  /** @param factor multiplies the commands under way, as it does the quotas */
  constructor(factor = 1) {
    this.#factor = factor;
  }

  /**
   * Runs the work when it is the account's turn in the partition.
   * @throws ApiError `rate_limit.exceeded` if its turn does not come in time; nothing was done
   */
  async run<Result>(origin: CommandOrigin, work: () => Promise<Result>): Promise<Result> {
    const until = performance.now() + WAIT_MS;
    const inTurn = placesOf(origin).reduceRight<() => Promise<Result>>(
      (inner, [key, most]) =>
        () =>
          this.#places.run({ key, most: Math.max(1, Math.round(most * this.#factor)), until, refuse }, inner),
      work,
    );
    return inTurn();
  }
}

function refuse(): ApiError {
  count('payments.rate_limited', { policy: 'commands' });
  return new ApiError('rate_limit.exceeded', {
    message: 'Too many requests of this account are in progress. Nothing was done. Retry after 1 s.',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** What it needs a place of, in this order, and how many places that has. */
function placesOf({
  accountId,
  livemode,
  partition,
  subject,
  byPayer,
}: CommandOrigin): readonly (readonly [key: string, most: number])[] {
  const mode = livemode ? 'live' : 'test';
  return [
    ...(byPayer
      ? ([
          [`payers ${subject}`, PAYERS_UNDER_WAY.intent],
          [`payers ${mode} ${accountId} ${partition}`, PAYERS_UNDER_WAY[mode]],
        ] as const)
      : ([[`${mode} ${accountId} ${partition}`, UNDER_WAY[mode]]] as const)),
    ...(livemode ? [] : ([[`test ${partition}`, UNDER_WAY.allTest]] as const)),
  ];
}
