import type { Address } from '@pf/domain';
import type { RpcRefusedError } from '@pf/rpc';
import { refusable, type RpcNode } from '@pf/rpc';
import { isContract } from './account.ts';
import { callContract, getCode, NO_ACCOUNT } from './calls.ts';

/**
 * What accounts of people have: `getThreshold()` of a Safe, `entryPoint()` of ERC-4337 and `accountId()` of ERC-7579.
 * A contract may well lie about it: then it gets the refunds of what it has paid.
 */
const OF_ACCOUNTS = ['0xe75235b8', '0xb0d691fe', '0x9cfd7cff'] as const;
/** Far more than these functions take. It bounds what a contract can return, too. */
const GAS = 100_000n;
const WORD = 64;

const says = (returned: string | RpcRefusedError | undefined): boolean =>
  typeof returned === 'string' && returned.length >= 2 + WORD && /[1-9a-f]/.test(returned.slice(2));

/** As `ChainAdapter.refundProblem`: an EIP-7702 account is that of its key. */
export async function refundProblem(node: RpcNode, payer: Address): Promise<string | null> {
  if (!isContract(await node.call(getCode(payer)))) return null;
  const returned = await node.batch(
    OF_ACCOUNTS.map((data) => refusable(callContract({ from: NO_ACCOUNT, to: payer, data, gas: GAS }))),
  );
  return returned.some(says) ? null : 'is a contract, and no wallet that we know';
}
