import type { Address } from '@pf/domain';
import { refusable, type RpcNode } from '@pf/rpc';
import { isContract } from './account.ts';
import { callContract, getCode, NO_ACCOUNT } from './calls.ts';

/**
 * What accounts of people return: a Safe's `getThreshold()` a number, `entryPoint()` of ERC-4337 an address, and
 * `accountId()` of ERC-7579 a text. A contract may well lie about it: then it gets the refunds of what it has paid.
 */
const OF_ACCOUNTS = [
  { data: '0xe75235b8', returns: /^0x0{56}(?!0{8})[0-9a-f]{8}$/ },
  { data: '0xb0d691fe', returns: /^0x0{24}(?!0{40})[0-9a-f]{40}$/ },
  { data: '0x9cfd7cff', returns: /^0x0{62}20(?:[0-9a-f]{64}){2,}$/ },
] as const;
/** Far more than these functions take. It bounds what a contract can return, too. */
const GAS = 100_000n;

/** As `ChainAdapter.refundProblem`: an EIP-7702 account is that of its key. */
export async function refundProblem(node: RpcNode, payer: Address): Promise<string | null> {
  if (!isContract(await node.call(getCode(payer)))) return null;
  const returned = await node.batch(
    OF_ACCOUNTS.map(({ data }) => refusable(callContract({ from: NO_ACCOUNT, to: payer, data, gas: GAS }))),
  );
  const isAccount = OF_ACCOUNTS.some(({ returns }, place) => {
    const said = returned[place];
    return typeof said === 'string' && returns.test(said);
  });
  return isAccount ? null : 'is a contract, and no wallet that we know';
}
