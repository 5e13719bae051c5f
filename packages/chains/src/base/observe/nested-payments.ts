import type { Reference, TransactionHash } from '@pf/domain';
import type { Logged } from '../../evm/calls.ts';
import { makeReady } from '../../evm/checksummed.ts';
import type { Unjudged } from '../../evm/observe/reading.ts';
import { NOT_IN_TIME } from '../../late-reads.ts';
import { partsOf } from '../../parts.ts';
import { byTurns, keptParties } from '../../set-aside.ts';
import { argumentsOf, referencesBehind } from '../calldata.ts';
import { authorizedIn } from '../nested/authorized.ts';
import { areExplained, type Explanation, type NestedTransaction, withTrace } from '../nested/explain.ts';
import { carriesReference, NOT_ORDERED, type References } from '../nested/references.ts';
import { paidIn } from '../paid.ts';
import type { Judging } from './context.ts';
import { type LoggedTransfer, partyOf, readTransfer } from './landings.ts';
import type { NestedPayment, NestedPayments } from './memory.ts';
import { type Nested, readReceiptsOf } from './receipts.ts';
import { TRACES_AT_ONCE } from './room.ts';

/** After this time a payment that no upstream can explain is reported as one without a proven reference. */
const UNPROVEN_MS = 60_000;
/**
 * The same where its bytes name several intents: which of them it pays is a guess until a trace says it. Before it is
 * given up its account hears of it all the same.
 */
const UNPROVEN_OF_SEVERAL_MS = 12 * 3_600_000;

/** Why a transaction waits that a step could not trace. */
export const NO_ROOM = 'there was no room for its trace';

/** So many mistaken intents of a transfer are told of at most. */
const MISTAKES_MAX = 5;

/** Watched references, by the index of the transfer that may carry them. */
type Likely = ReadonlyMap<bigint, readonly Reference[]>;

/** A nested transaction whose receipt was read. */
interface Opened {
  readonly nested: Nested;
  readonly explained: NestedTransaction;
  readonly likely: Likely;
  /** The transfers that may pay a watched intent. */
  readonly suspects: readonly LoggedTransfer[];
  /** What is known of them without a trace: those of authorizations. */
  readonly references: References;
}

/** What nested transactions pay. Those that are judged are remembered, with what they pay. */
interface NestedJudgement {
  /** What is known of those that are not judged: what is proven, and what was waited for long enough. */
  readonly partly: ReadonlyMap<TransactionHash, NestedPayments>;
  readonly unjudged: readonly Unjudged[];
}

/** Finds what these transactions pay. */
export async function judgeNested(context: Judging, all: readonly Nested[]): Promise<NestedJudgement> {
  const unjudged: Unjudged[] = [];
  const open: Opened[] = [];
  const inOrder = inTurns(
    context,
    all.map((nested) => ({ nested })),
  );
  for await (const { nested, receipt } of readReceiptsOf(context, inOrder)) {
    if (typeof receipt === 'string') {
      unjudged.push(unjudgedOf(context, nested, receipt));
      continue;
    }
    await makeReady(receipt);
    const opened = await openUp(context, nested, receipt);
    if (areExplained(opened.suspects, opened.references)) remember(context, opened, opened.references);
    else open.push(opened);
  }
  const traced = await traceByTurns(context, open);
  return { partly: traced.partly, unjudged: [...unjudged, ...traced.unjudged] };
}

/** Why a transaction waits, with all whom it may have paid. */
const unjudgedOf = ({ watch }: Judging, { transaction: { hash }, transfers }: Nested, reason: string): Unjudged => {
  const place = transfers[0]?.log.blockNumber ?? 0n;
  return { hash, place, reason, ...keptParties(watch, transfers.map(partyOf)) };
};

const inTurns = <T extends { readonly nested: Nested }>({ watch }: Judging, all: readonly T[]): readonly T[] =>
  byTurns(
    watch,
    all.map((one) => ({ ...keptParties(watch, one.nested.transfers.map(partyOf)), one })),
  ).map(({ one }) => one);

async function openUp(context: Judging, nested: Nested, { logs }: Logged): Promise<Opened> {
  const { transaction, transfers } = nested;
  const explained = { hash: transaction.hash, sent: transaction, logs, network: context.network };
  const likely = await likelyReferences(context, transaction.input, transfers);
  const authorized = authorizedIn(logs);
  const suspects = transfers.filter(({ log }) => likely.has(log.logIndex) || authorized.has(log.logIndex));
  return {
    nested,
    explained,
    likely,
    suspects,
    references: authorized,
  };
}

/** Only a transaction in which a watched reference follows such a transfer's bytes is worth a trace. */
async function likelyReferences(
  { watch }: Judging,
  input: string,
  transfers: readonly LoggedTransfer[],
): Promise<Likely> {
  const behind = referencesBehind(
    Buffer.from(input.slice(2), 'hex'),
    new Set(transfers.map(({ to, amount }) => argumentsOf(to, amount))),
  );
  await watch.recall([...behind.values()].flatMap((references) => [...references]));
  const likely = new Map<bigint, readonly Reference[]>();
  const watched = new Map<string, readonly Reference[]>();
  for (const { to, amount, log } of transfers) {
    const name = argumentsOf(to, amount);
    const found =
      watched.get(name) ??
      [...(behind.get(name) ?? [])].filter((reference) => watch.byReference(reference)?.terms.requestor === to);
    watched.set(name, found);
    if (found.length > 0) likely.set(log.logIndex, found);
  }
  return likely;
}

/** Traces as many as a step has room for. */
async function traceByTurns(context: Judging, open: readonly Opened[]): Promise<NestedJudgement> {
  const partly = new Map<TransactionHash, NestedPayments>();
  const unjudged: Unjudged[] = [];
  const judge = (opened: Opened, traced: Explanation | null): void => {
    const { nested, suspects, references } = opened;
    const { hash } = nested.transaction;
    if (traced === null) {
      partly.set(hash, paymentsAmong(opened, references, 0));
      unjudged.push(unjudgedOf(context, nested, NO_ROOM));
      return;
    }
    if (areExplained(suspects, traced.references)) return remember(context, opened, traced.references);
    if (traced.said === 'late') {
      context.memory.room.wasLate();
      context.late?.begin(hash, nested.transfers[0]?.log.blockNumber ?? null, true);
      partly.set(hash, paymentsAmong(opened, traced.references, 0));
      unjudged.push(unjudgedOf(context, nested, NOT_IN_TIME));
      return;
    }
    // What a stranger has made too long to be read is no reason to call it another's payment.
    const isUnreadable = traced.said === 'unreadable';
    const waitedMs = isUnreadable ? 0 : context.now - (context.waitsSince(hash) ?? context.now);
    partly.set(hash, paymentsAmong(opened, traced.references, waitedMs));
    const reason = isUnreadable ? 'its trace cannot be read' : 'no upstream has a trace of it';
    unjudged.push(unjudgedOf(context, nested, reason));
  };
  for (const part of partsOf(inTurns(context, open), TRACES_AT_ONCE)) {
    const traced = await Promise.all(
      part.map(async ({ nested, explained, suspects }) => {
        if (nested.traced !== undefined) return nested.traced;
        if (!context.memory.room.takeTrace()) return null;
        return withTrace(context.pool, explained, suspects, context.late !== undefined);
      }),
    );
    // One after the other: together they name more accounts than are remembered.
    for (const [place, opened] of part.entries()) {
      await makeReady(opened.explained);
      judge(opened, traced[place] ?? null);
    }
  }
  return { partly, unjudged };
}

const remember = ({ memory }: Judging, opened: Opened, references: References): void =>
  memory.rememberNested(
    opened.nested.transaction.hash,
    opened.nested.transfers[0]?.log.blockHash ?? '',
    withMistakes(opened, paymentsAmong(opened, references, 0)),
  );

/**
 * The payments with what each may have been reported for before it was proven: by the transaction itself, so that it is
 * known after a restart, and when old blocks are read again. First the one that it was reported for where nothing but
 * authorizations was known, then those that its bytes name: the ones that no transfer carries, and the others, as any
 * of them may have been free while only some of the transfers were explained. Of a transfer MISTAKES_MAX, whatever its
 * calldata names.
 */
function withMistakes(opened: Opened, payments: NestedPayments): NestedPayments {
  const { likely, references } = opened;
  const unexplained = paymentsAmong(opened, references, Number.POSITIVE_INFINITY);
  const carried = new Set([...payments.values()].map(({ reference }) => reference));
  return new Map(
    [...payments].map(([index, one]) => {
      const before = unexplained.get(index);
      const others = likely.get(index) ?? [];
      const names = new Set([
        ...(before?.isProven === false ? [before.reference] : []),
        ...others.filter((name) => !carried.has(name)),
        ...others,
      ]);
      names.delete(one.reference);
      const mistakenFor = [...names].slice(0, MISTAKES_MAX);
      return [index, mistakenFor.length > 0 ? { ...one, mistakenFor } : one];
    }),
  );
}

/**
 * What the transfers pay, and what that is worth. Of what is not explained after a while, a reference that its bytes
 * have, and that no transfer carries, stands for one transfer.
 * @param waitedMs for so long it could have been explained
 */
function paymentsAmong(
  { suspects, likely, explained, references: authorized }: Opened,
  references: References,
  waitedMs: number,
) {
  const named = new Map<bigint, Omit<NestedPayment, 'worth'>>();
  const used = new Set(references.values());
  for (const { log } of suspects) {
    const reference = references.get(log.logIndex);
    if (reference === null || reference === NOT_ORDERED) continue;
    if (reference !== undefined)
      named.set(log.logIndex, { reference, isProven: true, isAuthorized: authorized.has(log.logIndex) });
    else {
      const [first, ...others] = (likely.get(log.logIndex) ?? []).filter((one) => !used.has(one));
      if (first === undefined || waitedMs < (others.length > 0 ? UNPROVEN_OF_SEVERAL_MS : UNPROVEN_MS)) continue;
      used.add(first);
      named.set(log.logIndex, { reference: first, isProven: false, isAuthorized: false });
    }
  }
  const worth = paidIn(
    explained.logs.flatMap((log) => readTransfer(log) ?? []),
    (one) => named.has(one.log.logIndex) || carriesReference(references, one),
  );
  return new Map([...named].map(([index, one]) => [index, { ...one, worth: worth.get(index) ?? 0n }] as const));
}
