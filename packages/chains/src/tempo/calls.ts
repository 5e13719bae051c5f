import type { Address, TokenAddress } from '@pf/domain';
import { boundedTo, type RpcCall, rpcCall } from '@pf/rpc';
import { Interface } from 'ethers/abi';
import { getAddress } from 'ethers/address';
import { z } from 'zod';
import { bytes, callContract, quantity, STRANGERS_MAX_BYTES, toQuantity } from '../evm/calls.ts';

/** The calls that only Tempo nodes have, each with the schema of its result. */

/** Takes the fees of transactions. */
export const FEE_MANAGER = '0xfeEC000000000000000000000000000000000000' as Address;
const NONCE_MANAGER = '0x4e4F4E4345000000000000000000000000000000';
const ADDRESS_REGISTRY = '0xfDC0000000000000000000000000000000000000';
const POLICY_REGISTRY = '0x403c000000000000000000000000000000000000';

const contracts = new Interface([
  'function userTokens(address user) view returns (address)',
  'function getNonce(address account, uint256 nonceKey) view returns (uint64)',
  'function getMaster(bytes4 masterId) view returns (address)',
  'function currency() view returns (string)',
  'function balanceOf(address account) view returns (uint256)',
  'function transferPolicyId() view returns (uint64)',
  'function isAuthorizedRecipient(uint64 policyId, address user) view returns (bool)',
  'function isAuthorized(uint64 policyId, address user) view returns (bool)',
  'function validateReceivePolicy(address token, address sender, address receiver) view ' +
    'returns (bool authorized, uint8 blockedReason)',
]);

/** A view call to a contract; null where the result does not decode: this chain has no such contract. */
function view(from: string, to: string, name: string, args: readonly unknown[] = []): RpcCall<unknown> {
  const call = callContract({ from, to, data: contracts.encodeFunctionData(name, args) });
  return {
    ...call,
    parse: (result): unknown => {
      const data = call.parse(result);
      try {
        return contracts.decodeFunctionResult(name, data)[0] as unknown;
      } catch {
        return null;
      }
    },
  };
}
const reading = <T>(call: RpcCall<unknown>, read: (value: unknown) => T): RpcCall<T> => ({
  ...call,
  parse: (result) => read(call.parse(result)),
});
const number = (value: unknown): bigint => (typeof value === 'bigint' ? value : 0n);

const addressIn = (value: unknown): Address | null =>
  typeof value === 'string' && BigInt(value) !== 0n ? (value as Address) : null;

/** The fee token that an account has chosen for itself; null where it has not. */
export const getUserToken = (account: string): RpcCall<TokenAddress | null> =>
  reading(view(account, FEE_MANAGER, 'userTokens', [account]), (token) => addressIn(token) as TokenAddress | null);
/**
 * The master account of a virtual address (TIP-1022), which gets what is paid there; null where none is registered. A
 * chain without virtual addresses has none.
 */
export const getMaster = (virtual: Address): RpcCall<Address | null> =>
  reading(view(ADDRESS_REGISTRY, ADDRESS_REGISTRY, 'getMaster', [virtual.slice(0, 10)]), addressIn);
/** The next nonce of an account for this nonce key (not key 0: that is the account's transaction count). */
export const getKeyedNonce = (account: string, key: bigint): RpcCall<bigint> =>
  reading(view(account, NONCE_MANAGER, 'getNonce', [account, key]), number);
/** `USD`, `EUR`: the currency of a TIP-20 token. */
export const getCurrency = (token: string): RpcCall<unknown> => view(token, token, 'currency');
/** An account's balance of a token, in base units. */
export const getTokenBalance = (token: string, account: string): RpcCall<bigint> =>
  reading(view(account, token, 'balanceOf', [account]), number);
/**
 * True only when the chain says that the receiver's policy would block this payment (TIP-1028). A chain without
 * policies blocks nothing.
 */
export const isBlockedByReceivePolicy = (token: string, sender: string, receiver: string): RpcCall<boolean> =>
  reading(
    view(sender, POLICY_REGISTRY, 'validateReceivePolicy', [token, sender, receiver]),
    (authorized) => authorized === false,
  );
/** The policy of a token's issuer that says who may send and receive it (TIP-403). */
export const getTransferPolicy = (token: string): RpcCall<bigint> =>
  reading(view(token, token, 'transferPolicyId'), number);
/** True only when the chain says that this policy lets the account receive nothing. */
export const isForbiddenRecipient = (policy: bigint, account: string): RpcCall<boolean> =>
  reading(
    view(account, POLICY_REGISTRY, 'isAuthorizedRecipient', [policy, account]),
    (authorized) => authorized === false,
  );
/** The same on a chain whose policies do not distinguish senders and recipients. */
export const isForbiddenAccount = (policy: bigint, account: string): RpcCall<boolean> =>
  reading(view(account, POLICY_REGISTRY, 'isAuthorized', [policy, account]), (authorized) => authorized === false);

/** `anvil/v1.7.1`, `tempo/v1.9.0`. */
export const getClientVersion = (): RpcCall<string> => rpcCall('web3_clientVersion', [], z.string());

/** The nonce of a transaction of type 0x76. */
interface TempoNonce {
  readonly nonceKey: bigint;
  readonly nonce: bigint;
  /** Only where the nonce needs it: the expiring one. */
  readonly validBefore?: bigint;
}
/** A call with everything that affects its gas in a transaction of type 0x76. */
export interface TempoCall {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  readonly feeToken: string;
  /** Absent: the account's own next one. */
  readonly nonce?: TempoNonce;
  readonly gas?: bigint;
}
const quantities = (values: Readonly<Record<string, bigint | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, toQuantity(value)]],
    ),
  );
const requested = ({ nonce, gas, ...rest }: TempoCall): Record<string, string> => ({
  ...rest,
  value: '0x0',
  ...quantities({ ...nonce, gas }),
});
export const estimateTempoGas = (call: TempoCall): RpcCall<bigint> =>
  rpcCall('eth_estimateGas', [requested(call)], quantity);
export const simulate = (call: TempoCall): RpcCall<string> => rpcCall('eth_call', [requested(call), 'latest'], bytes);

const place = z.object({
  from: z
    .string()
    .regex(/^0x[0-9a-f]{40}$/i)
    .transform((text) => getAddress(text.toLowerCase()) as Address),
  blockNumber: quantity.nullable(),
  blockHash: bytes.nullable(),
});
/** In which block a transaction is, and whose it is. Null where the node knows no such transaction. */
export const getPlace = (transaction: string): RpcCall<z.infer<typeof place> | null> =>
  boundedTo(STRANGERS_MAX_BYTES, rpcCall('eth_getTransactionByHash', [transaction], place.nullable()));

/** A transaction as a node returns it; ox reads its fields, which are trusted because the hash matches. */
const rpcTransaction = z.looseObject({ type: quantity, signature: z.unknown().optional() });
export type TempoRpcTransaction = z.infer<typeof rpcTransaction>;
/** Null where the node knows no such transaction: no proof that there is none. */
export const getTempoTransaction = (hash: string): RpcCall<TempoRpcTransaction | null> =>
  boundedTo(STRANGERS_MAX_BYTES, rpcCall('eth_getTransactionByHash', [hash], rpcTransaction.nullable()));
