import type { ChainAdapter, SignedTransaction } from '@pf/chains';
import type { IntentId, TransactionHash } from '@pf/domain';
import { BackOff, boundedCache } from '@pf/runtime';
import { ApiError } from '../api-error.ts';
import type { Holder } from '../api-keys.ts';
import type { Limiter } from '../limits/limiter.ts';
import type { Waits } from '../limits/waits.ts';

/**
 * How often a transaction that a wallet has sent is looked for, within six seconds at most, at one upstream each time:
 * nodes behind one URL may lag, and clients of MPP do not try again.
 */
const LOOKS = 8;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 1_000;
/** A hash that no node has shown is not looked for again for so long, whoever asks. */
const ABSENT_MS = 3_000;
const ABSENT_MAX = 10_000;

/** A hash of which nothing is known, and who submits it to which intent. */
interface Wanted {
  readonly id: IntentId;
  readonly hash: TransactionHash;
  readonly holder: Holder;
  readonly ip: string | undefined;
}

/** Looks for transactions that wallets have sent. Anyone can submit the hash of none, so this has limits of its own. */
export class Looks {
  readonly #limiter: Pick<Limiter, 'admitLook'>;
  readonly #waits: Pick<Waits, 'look' | 'read'>;
  readonly #absent = boundedCache<string, true>(ABSENT_MAX, { ttl: ABSENT_MS });

  constructor({
    limiter,
    waits,
  }: {
    readonly limiter: Pick<Limiter, 'admitLook'>;
    readonly waits: Pick<Waits, 'look' | 'read'>;
  }) {
    this.#limiter = limiter;
    this.#waits = waits;
  }

  /** @throws ApiError `transaction.not_visible`, `rate_limit.exceeded` */
  async find(
    adapter: Pick<ChainAdapter, 'fetchSent' | 'network'>,
    { id, hash, holder, ip }: Wanted,
  ): Promise<SignedTransaction> {
    const name = `${adapter.network.chain} ${hash}`;
    const notVisible = (): ApiError => new ApiError('transaction.not_visible', { details: { tx_signature: hash } });
    if (this.#absent.has(name)) throw notVisible();
    await this.#limiter.admitLook(id, holder, ip);
    return this.#waits.look(holder, [id, ip], async () => {
      const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
      for (let look = 0; look < LOOKS; look += 1) {
        if (look > 0) await backOff.wait();
        const sent = await this.#waits.read(holder, () => adapter.fetchSent(hash, look));
        if (sent) return sent;
      }
      this.#absent.set(name, true);
      throw notVisible();
    });
  }

  /** Judges what was found. @throws ApiError `rate_limit.exceeded` */
  judge<Judged>(holder: Holder, judge: () => Promise<Judged>): Promise<Judged> {
    return this.#waits.read(holder, judge);
  }
}
