import type { Observation, Reference, Settlement, TransactionHash } from '@pf/domain';
import type { RpcNode, RpcPool } from '@pf/rpc';
import { getCalling, type Logged } from '../../evm/calls.ts';
import { readEach, Unreadable } from '../../evm/observe/read-each.ts';
import type { Findings } from '../../evm/observe/reading.ts';
import type { Network, WatchSet } from '../../port.ts';
import { argumentsOf, referencesBehind } from '../calldata.ts';
import type { Judging } from './context.ts';
import { Disproved, type DisprovedOf } from './disproved.ts';
import { type LoggedTransfer, readTransfer } from './landings.ts';
import { Memory } from './memory.ts';
import type { Seen } from './position.ts';
import { readLoggedIn, readReceipts } from './receipts.ts';
import { judge, transfersIn } from './scan.ts';

/** How often a request for receipts that are too long together is halved. */
const SPLITS = 5;

/**
 * What a transaction pays these intents, by its receipt, calldata and trace alone. Null where no upstream has one of
 * them.
 */
export async function judgeAgain(
  pool: RpcPool,
  node: RpcNode,
  network: Network,
  watch: WatchSet,
  hash: TransactionHash,
): Promise<readonly Observation[] | null> {
  const disproved = new Disproved();
  const of = { pool, node, network, watch, noteDisproved: disproved.note };
  const { found, unjudged, receipts } = await judgeAnew(of, [hash]);
  if (!receipts.has(hash) || unjudged.length > 0) return null;
  const paid = found.flatMap((one): Observation[] => {
    if (one.kind !== 'landed') return [];
    const { intentId, transfer } = one;
    return [{ kind: 'observation', type: 'landed', intentId, data: { hash, level: 'confirmed', transfer } }];
  });
  return [...disproved.observations(), ...paid];
}

interface Anew extends Findings<Seen> {
  readonly receipts: ReadonlyMap<TransactionHash, Logged>;
}

/**
 * Nothing is remembered, so that nothing which was found before is believed.
 * @param blocks where their logs are, of receipts that are too long to be read
 */
async function judgeAnew(
  of: Pick<Judging, 'pool' | 'node' | 'network' | 'watch' | 'noteDisproved'>,
  hashes: readonly TransactionHash[],
  blocks: ReadonlyMap<TransactionHash, bigint> = new Map(),
): Promise<Anew> {
  const context: Judging = { ...of, memory: new Memory(), now: 0, waitsSince: () => undefined };
  const receipts = new Map<TransactionHash, Logged>();
  const found = await readReceipts(context, hashes, SPLITS);
  for (const [place, hash] of hashes.entries()) {
    const [receipt, block] = [found[place], blocks.get(hash)];
    if (receipt !== undefined && typeof receipt !== 'string') receipts.set(hash, receipt);
    const logged = typeof receipt === 'string' && block !== undefined ? await readLoggedIn(of, hash, block) : null;
    if (logged !== null) receipts.set(hash, logged);
  }
  const hits = [...receipts.values()].flatMap((receipt) =>
    receipt.status === 0n ? [] : transfersIn(context, receipt.logs).map((transfer) => ({ transfer, receipt })),
  );
  return { ...(await judge(context, hits)), receipts };
}

/** What one upstream alone shows of settlements. */
interface Showing {
  readonly shown: ReadonlySet<Settlement>;
  /** What the transactions of the others pay, as this upstream shows them. */
  readonly instead: readonly Seen[];
  /** Of these, the settlements that are the payments of others. */
  readonly disproved: readonly DisprovedOf[];
}

/**
 * Which of these settlements one upstream alone shows: the same transfer in the same block, for the same reference.
 * Where it has no trace, which few upstreams have, the calldata that it shows must name that reference.
 */
export async function settlementsShownBy(
  node: RpcNode,
  { network, watch }: Pick<Judging, 'network' | 'watch'>,
  settlements: readonly Settlement[],
): Promise<Showing> {
  const blocks = new Map(settlements.map(({ hash, transfer }) => [hash, transfer.block]));
  const disproved: DisprovedOf[] = [];
  const noteDisproved = (one: DisprovedOf, isSettled: boolean): void => void (isSettled && disproved.push(one));
  const of = { pool: alone(node), node, network, watch, noteDisproved };
  const { found, unjudged, receipts } = await judgeAnew(of, [...blocks.keys()], blocks);
  const shown = new Set<Settlement>();
  const untraced: { readonly settlement: Settlement; readonly logged: LoggedTransfer }[] = [];
  for (const settlement of settlements) {
    const logged = loggedIn(settlement, receipts.get(settlement.hash));
    if (logged === null) continue;
    if (found.some((one) => isSame(settlement, one))) shown.add(settlement);
    else if (unjudged.some(({ hash }) => hash === settlement.hash)) untraced.push({ settlement, logged });
  }
  const transactions = await readEach(
    node,
    untraced.map(({ settlement }) => getCalling(settlement.hash)),
  );
  for (const [place, { settlement, logged }] of untraced.entries()) {
    const transaction = transactions[place] ?? null;
    if (transaction === null || transaction instanceof Unreadable) continue;
    if (isNamedIn(transaction.input, logged, settlement.transfer.reference)) shown.add(settlement);
  }
  const denied = new Set(settlements.flatMap((one) => (shown.has(one) ? [] : [one.hash])));
  return { shown, instead: found.filter(({ hash }) => denied.has(hash)), disproved };
}

/** Nothing that this upstream lacks is had from others. */
const alone = (node: RpcNode): Judging['pool'] => ({
  onAnother: () => Promise.resolve(null),
  async *attempts(work) {
    yield { kind: 'completed', value: await work(node) };
  },
});

/** The same landing, worth as much at least: what other transfers paid may not be looked for any more. */
const isSame = ({ hash, transfer }: Settlement, one: Seen): boolean =>
  one.kind === 'landed' &&
  one.hash === hash &&
  one.transfer.index === transfer.index &&
  one.transfer.reference === transfer.reference &&
  one.transfer.amount >= transfer.amount;

/**
 * The settlement's transfer as this receipt has it; null where it has another one there. What an account has gained may
 * be less than what was transferred to it.
 */
function loggedIn({ transfer }: Settlement, receipt: Logged | undefined): LoggedTransfer | null {
  if (receipt?.blockHash !== transfer.blockHash) return null;
  const log = receipt.logs.find(({ logIndex }) => logIndex.toString() === transfer.index);
  const logged = log === undefined ? null : readTransfer(log);
  return logged !== null &&
    (logged.log.address as string) === transfer.tokenAddress &&
    logged.from === transfer.from &&
    logged.to === transfer.to &&
    logged.amount >= transfer.amount
    ? logged
    : null;
}

/** Whether the reference follows this transfer's arguments somewhere in the calldata. */
function isNamedIn(input: string, { to, amount }: LoggedTransfer, reference: Reference): boolean {
  const name = argumentsOf(to, amount);
  const behind = referencesBehind(Buffer.from(input.slice(2), 'hex'), new Set([name]));
  return behind.get(name)?.has(reference) === true;
}
