import { recordDuration, type MetricLabels } from '@pf/runtime';
import {
  type Finding,
  type ScreenedWallet,
  type Screening,
  type Screener,
  ScreeningUnavailableError,
  type Verdict,
} from './port.ts';

/** The port over its parts, which are asked in their order: what one knows need not be asked of the next. */
export const createScreening = (parts: readonly Screener[]): Screening => ({
  async screen(wallets) {
    const began = performance.now();
    let verdict: MetricLabels<'payments.screening.duration'>['verdict'] = 'unavailable';
    try {
      const answer = await screen(parts, wallets);
      verdict = answer.kind;
      return answer;
    } finally {
      recordDuration('payments.screening.duration', began, { verdict });
    }
  },
  close: async () => void (await Promise.all(parts.map((part) => part.close()))),
});

async function screen(parts: readonly Screener[], wallets: readonly ScreenedWallet[]): Promise<Verdict> {
  const answers = await Promise.allSettled(wallets.map((wallet) => find(parts, wallet)));
  let failure: ScreeningUnavailableError | null = null;
  for (const [at, answer] of answers.entries()) {
    const wallet = wallets[at];
    if (answer.status === 'fulfilled' && answer.value !== null && wallet)
      return { kind: 'match', wallet, finding: answer.value };
    if (answer.status === 'rejected') failure ??= unavailable(answer.reason);
  }
  if (failure) throw failure;
  return CLEAN;
}

const CLEAN: Verdict = { kind: 'clean' };

async function find(parts: readonly Screener[], wallet: ScreenedWallet): Promise<Finding | null> {
  for (const part of parts) {
    const finding = await part.find(wallet);
    if (finding) return finding;
  }
  return null;
}

/** Whatever went wrong in a part, nobody passes. */
const unavailable = (reason: unknown): ScreeningUnavailableError =>
  reason instanceof ScreeningUnavailableError
    ? reason
    : new ScreeningUnavailableError('a part of the screening failed', { cause: reason });
