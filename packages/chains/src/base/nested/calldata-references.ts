import type { Address, Reference } from '@pf/domain';
import type { Log } from '../../evm/calls.ts';
import { decodeTransfer, INPUT_MAX_BYTES } from '../calldata.ts';
import { type LoggedTransfer, readTransfer } from '../observe/landings.ts';
import { type AccountCall, CALLS_MAX, callsOf } from '../user-operations/account-calls.ts';
import { type Execution, executionsOf } from '../user-operations/bundles.ts';
import { isEntryPoint } from '../user-operations/entry-points.ts';
import { authorizedIn } from './authorized.ts';
import type { References } from './references.ts';

/** Of all operations of a bundle together: each has an equal share, so that none can use up that of another. */
const CALLS_OF_ALL_MAX = 1_024;

/** What was sent to a contract, by whom. */
export interface Sent {
  readonly from: Address;
  readonly to: Address | null;
  /** Calldata as hex. */
  readonly input: string;
}

/**
 * What an account was told to do by whoever may tell it (a user operation, which the account itself has accepted, or a
 * transaction that it sent to itself), opened down to the calls of tokens. What another account sends to a contract
 * says nothing about what that does. Each transfer that the account made is the effect of exactly one of these calls.
 * Where there are as many of one kind (token, recipient, amount) as transfers were logged, they belong together in
 * their order. Otherwise something else made a transfer, or a call failed, and none of that kind is explained.
 *
 * The account's code may have done otherwise, so this counts only where no upstream can tell what was done.
 */
export function referencesByCalldata(sent: Sent, logs: readonly Log[]): References {
  const references = new Map<bigint, Reference | null>(authorizedIn(logs));
  const made = (readExecutions(sent, logs) ?? []).flatMap((execution) => {
    const transfers = transfersOf(execution, references);
    return transfers.size === 0 ? [] : [{ ...execution, transfers }];
  });
  const most = Math.min(CALLS_MAX, Math.floor(CALLS_OF_ALL_MAX / made.length));
  for (const { account, calldata, transfers } of made)
    explain(transfers, callsOf(account, calldata, most) ?? [], references);
  return references;
}

function readExecutions({ from, to, input }: Sent, logs: readonly Log[]): readonly Execution[] | null {
  if (to === null || input.length > 2 + 2 * INPUT_MAX_BYTES) return null;
  if (isEntryPoint(to)) return executionsOf(to, Buffer.from(input.slice(2), 'hex'), logs);
  return from === to ? [{ account: to, calldata: Buffer.from(input.slice(2), 'hex'), logs }] : null;
}

const kindOf = (token: string, to: Address, amount: bigint): string => `${token} ${to} ${amount}`;

type Transfers = ReadonlyMap<string, readonly LoggedTransfer[]>;

/** The transfers of an account that are to be explained, by their kind. */
const transfersOf = ({ account, logs }: Execution, references: References): Transfers =>
  Map.groupBy(
    logs.flatMap((log) => {
      const transfer = readTransfer(log);
      return transfer?.from === account && !references.has(log.logIndex) ? [transfer] : [];
    }),
    ({ to, amount, log }) => kindOf(log.address, to, amount),
  );

function explain(
  transfers: Transfers,
  ordered: readonly AccountCall[],
  references: Map<bigint, Reference | null>,
): void {
  const calls = Map.groupBy(
    ordered.flatMap(({ to: token, data }) => {
      const call = decodeTransfer(data);
      return call === null ? [] : [{ ...call, token }];
    }),
    ({ token, to, amount }) => kindOf(token, to, amount),
  );
  for (const [kind, made] of transfers) {
    const meant = calls.get(kind) ?? [];
    if (meant.length !== made.length) continue;
    for (const [place, { log }] of made.entries()) references.set(log.logIndex, meant[place]?.reference ?? null);
  }
}
