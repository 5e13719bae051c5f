import type { PaymentIntent } from '@pf/domain';
import { boundedCache, count, type Logger } from '@pf/runtime';
import { networkNameOf } from './ledger-metrics.ts';

/** An extra payment of this intent that is the payment of another one. */
export interface WrongExtra {
  readonly intent: Pick<PaymentIntent, 'id' | 'chain'>;
  /** `hash:index` of the transfer. */
  readonly transfer: string;
}

/** The newest that were told of. */
const REMEMBERED = 1_000;

/**
 * Tells the operator of extra payments that are those of other intents: each once, as long as this process remembers
 * it, whatever number of times a watcher judges it.
 */
export class WrongExtras {
  readonly #log: Pick<Logger, 'warn'>;
  readonly #told = boundedCache<string, true>(REMEMBERED);

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log;
  }

  note({ intent: { id: intentId, chain }, transfer }: WrongExtra): void {
    const name = `${intentId} ${transfer}`;
    if (this.#told.get(name) !== undefined) return;
    this.#told.set(name, true);
    count('payments.extras.disproved', { network: networkNameOf(chain) });
    this.#log.warn(
      { intentId, transfer, runbook: 'docs/operations/runbooks/settlements-disproved.md' },
      'an extra payment carries the reference of another intent: its account may send it back',
    );
  }
}
