import { STREAM_LIMITS } from '@pf/contracts';
import { slotsOfAddress, Slots } from '@pf/http';
import { count } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import { type Holder, isPayer } from '../api-keys.ts';

const RETRY_AFTER_SECONDS = 5;

/** Counts the event streams that clients hold open at this gateway, so that none of them takes all. */
export class OpenStreams {
  readonly #factor: number;
  readonly #slots = new Slots();

  /** @param factor multiplies the limits of a key and of an address, as it does the quotas */
  constructor(factor = 1) {
    this.#factor = factor;
  }

  /**
   * Counts a stream until the returned function is called.
   * @throws ApiError `rate_limit.exceeded` where the account, the intent, the address, test mode or the gateway is full
   */
  open(holder: Holder, ip: string | undefined): () => void {
    const { accountId, livemode, userId, intentId } = holder;
    const mode = livemode ? 'live' : 'test';
    const whose = isPayer(holder) ? 'payers' : 'keys';
    const of = (most: number): number => Math.max(1, Math.round(most * this.#factor));
    const ofAddress = (most: number, what = ''): Readonly<Record<string, number>> =>
      slotsOfAddress(ip, of(most), (group) => `address ${group}${what}`);
    const { reserve } = STREAM_LIMITS;
    const own = {
      ...(intentId !== undefined && {
        [`intent ${intentId}`]: of(STREAM_LIMITS.intent),
        // One payer must not take those of all who pay the intent.
        ...ofAddress(STREAM_LIMITS.intentAddress, ` ${intentId}`),
      }),
      // Neither many keys nor many intents take what others need.
      [`${whose} ${accountId} ${mode}`]: of(STREAM_LIMITS[whose]),
      [`account ${accountId} ${mode}`]: of(STREAM_LIMITS.account[mode]),
      // Those of people may come from the address of the dashboard, which counts them by itself.
      ...(userId === undefined && ofAddress(STREAM_LIMITS.address)),
    };
    const taken = this.#slots.takeShared(own, {
      rooms: { ...(!livemode && { test: STREAM_LIMITS.test }), all: STREAM_LIMITS.all },
      reserve: { [`reserve of ${mode}`]: reserve[mode] },
      each: reserve.each,
    });
    if (typeof taken === 'function') return taken;
    count('payments.rate_limited', { policy: 'streams' });
    throw new ApiError('rate_limit.exceeded', {
      message: `${whoIs(taken.full)} has as many event streams open as it may. Close some, or poll the intent.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

function whoIs(full: string): string {
  if (full.startsWith('keys ')) return 'This account, with all its API keys of this mode,';
  if (full.startsWith('payers ')) return 'This account, with all its payers,';
  if (full.startsWith('account ')) return 'This account';
  if (full.startsWith('intent ')) return 'This payment intent';
  if (full.startsWith('address ')) return 'This address';
  return full === 'test' ? 'Test mode' : 'This gateway';
}
