import { READING_LIMITS } from '@pf/contracts';
import { slotsOfAddress, Slots } from '@pf/http';
import { count } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';

const RETRY_AFTER_SECONDS = 1;

/** Whose request reads. */
type Reader = Pick<Holder, 'keyId' | 'scope' | 'userId'>;

/**
 * Counts the requests that read at this gateway until their clients have the response, so that none of them fills its
 * memory with pages that it does not take.
 */
export class Readings {
  readonly #factor: number;
  readonly #slots = new Slots();

  /** @param factor multiplies the limits, as it does the quotas */
  constructor(factor = 1) {
    this.#factor = factor;
  }

  /**
   * Counts a request until the returned function is called.
   * @throws ApiError `rate_limit.exceeded` where the key, the person, the intent or the address has too many
   */
  begin({ keyId, scope, userId }: Reader, ip: string | undefined): () => void {
    const of = (most: number): number => Math.max(1, Math.round(most * this.#factor));
    const taken = this.#slots.take({
      // Many payers share a key of scope `payer`: one of them must not take the place of all.
      ...(scope !== 'payer' && { [keyId]: of(READING_LIMITS.holder) }),
      // Those of people may come from the address of the dashboard, which counts them by itself.
      ...(userId === undefined && slotsOfAddress(ip, of(READING_LIMITS.address), (group) => `address ${group}`)),
    });
    if (typeof taken === 'function') return taken;
    count('payments.rate_limited', { policy: 'readings' });
    const whose = taken.full.startsWith('address ') ? 'this address' : 'this caller';
    throw new ApiError('rate_limit.exceeded', {
      message: `Too many requests of ${whose} that read are in progress. Read their responses, and retry after 1 s.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}
