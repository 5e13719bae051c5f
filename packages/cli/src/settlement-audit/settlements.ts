import { type ChainObserver, RpcUnavailableError } from '@pf/chains';
import type { SettledIntent, SettlementPage } from '@pf/database';
import { type ChainId, type IntentId, type Observation, termsThatDiffer } from '@pf/domain';
import { BackOff } from '@pf/runtime';
import { SettledIntents } from './settled-intents.ts';

/** Transactions that are read at once. The pool of upstreams keeps to the limits of their plans. */
const AT_ONCE = 8;
/** A transaction is asked for so often while no upstream responds, with growing pauses. */
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

/** A settlement that does not hold, or could not be judged. */
export interface Finding {
  readonly intent: SettledIntent;
  /** `unjudged`: the chain was not readable enough to say. */
  readonly kind: 'unpaid' | 'unjudged';
  readonly reason: string;
}

export interface AuditReport {
  /** How many settlements were looked at. */
  readonly settlements: number;
  readonly findings: readonly Finding[];
  /** Rows of intents that cannot be decoded. */
  readonly unreadable: readonly IntentId[];
  /** Why it ended before the last settlement; null where it did not. */
  readonly stopped: string | null;
  /** Up to where it came then: another run goes on after it. */
  readonly next: IntentId | null;
}

export interface AuditOptions {
  /** The settlements after this place. */
  readonly read: (after: IntentId | null) => Promise<SettlementPage>;
  /** Of each network of the settlements. */
  readonly judges: ReadonlyMap<ChainId, Pick<ChainObserver, 'judge'>>;
  readonly after: IntentId | null;
  readonly ended: AbortSignal;
}

/**
 * Judges each settlement by what its transaction pays under the rules of today. Reads page by page; where no upstream
 * responds for long, or it is asked to end, it stops at the last whole page.
 */
export async function auditSettlements({ read, judges, after, ended }: AuditOptions): Promise<AuditReport> {
  const findings: Finding[] = [];
  const unreadable: IntentId[] = [];
  let settlements = 0;
  for (let place: IntentId | null | undefined = after; place !== undefined;) {
    if (ended.aborted) return { settlements, findings, unreadable, stopped: 'it was ended', next: place };
    const page = await read(place);
    let found: readonly Finding[];
    try {
      found = await auditPage(page.intents, judges, ended);
    } catch (error) {
      if (!(error instanceof RpcUnavailableError) && !ended.aborted) throw error;
      const stopped = error instanceof Error && !ended.aborted ? error.message : 'it was ended';
      return { settlements, findings, unreadable, stopped, next: place };
    }
    settlements += page.intents.length;
    findings.push(...found);
    unreadable.push(...page.unreadable);
    place = page.next ?? undefined;
  }
  return { settlements, findings, unreadable, stopped: null, next: null };
}

async function auditPage(
  intents: readonly SettledIntent[],
  judges: AuditOptions['judges'],
  ended: AbortSignal,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [chain, ofChain] of Map.groupBy(intents, (one) => one.chain)) {
    const judge = judges.get(chain);
    if (!judge) throw new Error(`${chain} has settlements and no judge`);
    const watch = new SettledIntents(ofChain);
    // One transaction may have paid several: it is read once.
    const transactions = [...Map.groupBy(ofChain, ({ settlement }) => settlement.hash)];
    for (let at = 0; at < transactions.length; at += AT_ONCE) {
      ended.throwIfAborted();
      const judged = await Promise.all(
        transactions.slice(at, at + AT_ONCE).map(async ([hash, paid]) => {
          const observations = await patiently(() => judge.judge(hash, watch), ended).catch(unlessUnavailable);
          return paid.flatMap((intent) => findingOf(intent, observations) ?? []);
        }),
      );
      findings.push(...judged.flat());
    }
  }
  return findings;
}

/** @throws RpcUnavailableError where no upstream responds for long */
async function patiently<Result>(work: () => Promise<Result>, ended: AbortSignal): Promise<Result> {
  const backOff = new BackOff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  for (let attempt = 1; ; attempt += 1)
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RpcUnavailableError) || attempt === ATTEMPTS || ended.aborted) throw error;
      await backOff.wait(ended);
    }
}

/** One transaction that cannot be judged, whatever the reason, stops no other. */
function unlessUnavailable(error: unknown): Error {
  if (error instanceof RpcUnavailableError || !(error instanceof Error)) throw error;
  return error;
}

/** Null where the settlement holds. */
function findingOf(intent: SettledIntent, observations: readonly Observation[] | Error | null): Finding | null {
  if (observations === null)
    return { intent, kind: 'unjudged', reason: 'no upstream returns the transaction, or what is needed to judge it' };
  if (observations instanceof Error) return { intent, kind: 'unjudged', reason: observations.message };
  const unpaid = (reason: string): Finding => ({ intent, kind: 'unpaid', reason });
  const own = observations.filter(
    ({ intentId, data }) => intentId === intent.id && data.hash === intent.settlement.hash,
  );
  const transfers = own.flatMap((one) => (one.type === 'landed' ? [one.data.transfer] : []));
  const paying = transfers.filter((transfer) => termsThatDiffer(intent, transfer).length === 0);
  const { from } = intent.settlement.transfer;
  if (paying.some((transfer) => transfer.from === from)) return null;
  const [other] = paying;
  if (other) return unpaid(`it was paid by ${other.from}, and ${from} counts as the payer`);
  const [transfer] = transfers;
  if (transfer) {
    const differs = termsThatDiffer(intent, transfer);
    const paid = differs.includes('amount') ? ` (${transfer.amount} of ${intent.amountBaseUnits} base units)` : '';
    return unpaid(`what it pays differs in ${differs.join(', ')}${paid}`);
  }
  const failure = own.find((one) => one.type === 'reverted');
  return unpaid(failure ? failure.data.reason : 'the transaction pays this intent nothing');
}
