import { recordDuration, type MetricLabels } from '@pf/runtime';
import {
  type Finding,
  type ScreenedWallet,
  type ScreeningOrigin,
  type Screening,
  type Screener,
  ScreeningUnavailableError,
  type Verdict,
} from './port.ts';

/** A screening by several screeners, in order: a match by one is not looked up by the next. */
export const createScreening = (screeners: readonly Screener[]): Screening => ({
  async screen(wallets, origin) {
    const began = performance.now();
    let verdict: MetricLabels<'payments.screening.duration'>['verdict'] = 'unavailable';
    try {
      const result = await screen(screeners, wallets, origin);
      verdict = result.kind;
      return result;
    } catch (error) {
      if (error instanceof ScreeningUnavailableError && error.limited) verdict = 'limited';
      throw error;
    } finally {
      recordDuration('payments.screening.duration', began, { verdict });
    }
  },
  close: async () => void (await Promise.all(screeners.map((screener) => screener.close()))),
});

async function screen(
  screeners: readonly Screener[],
  wallets: readonly ScreenedWallet[],
  origin: ScreeningOrigin,
): Promise<Verdict> {
  const results = await Promise.allSettled(wallets.map((wallet) => find(screeners, wallet, origin)));
  let failure: ScreeningUnavailableError | null = null;
  for (const [index, result] of results.entries()) {
    const wallet = wallets[index];
    if (result.status === 'fulfilled' && result.value !== null && wallet)
      return { kind: 'match', wallet, finding: result.value };
    // A source that is unavailable weighs more than a limit.
    if (result.status === 'rejected' && (failure === null || failure.limited)) failure = unavailable(result.reason);
  }
  if (failure) throw failure;
  return CLEAN;
}

const CLEAN: Verdict = { kind: 'clean' };

async function find(
  screeners: readonly Screener[],
  wallet: ScreenedWallet,
  origin: ScreeningOrigin,
): Promise<Finding | null> {
  for (const screener of screeners) {
    const finding = await screener.find(wallet, origin);
    if (finding) return finding;
  }
  return null;
}

/** Any failure of a screener makes the screening unavailable: no wallet passes unscreened. */
const unavailable = (reason: unknown): ScreeningUnavailableError =>
  reason instanceof ScreeningUnavailableError
    ? reason
    : new ScreeningUnavailableError('a screener failed', { cause: reason });
