import type { Authorization, TypedData } from '@pf/contracts';
import type { PaymentTerms, TransactionHash } from '@pf/domain';
import { refusable, type RpcCall, RpcRefusedError } from '@pf/rpc';
import { Interface } from 'ethers/abi';
import { TypedDataEncoder } from 'ethers/hash';
import { type BlockTag, callContract } from '../../evm/calls.ts';

/** EIP-3009, as Circle's tokens have it: with `bytes signature` since FiatToken v2.2. */
const contract = new Interface([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, ' +
    'uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** Of `transferWithAuthorization` and `receiveWithAuthorization`, each with `bytes signature` and with `v, r, s`. */
const SELECTORS: ReadonlySet<string> = new Set(['0xcf092995', '0xe3ee160e', '0x88b7ab63', '0xef55bec6']);

/** True for the calldata with which an authorization is sent to its token. */
export const sendsAuthorization = (calldata: string): boolean => SELECTORS.has(calldata.slice(0, 10).toLowerCase());

const TYPES: TypedData['types'] = {
  EIP712Domain: [
    { name: 'name', type: 'string' },
    { name: 'version', type: 'string' },
    { name: 'chainId', type: 'uint256' },
    { name: 'verifyingContract', type: 'address' },
  ],
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
};
const SIGNED = { TransferWithAuthorization: [...TYPES.TransferWithAuthorization] };

type Domain = TypedData['domain'];

export const typedDataOf = (domain: Domain, message: Authorization): TypedData => ({
  types: TYPES,
  domain,
  primaryType: 'TransferWithAuthorization',
  message,
});

/** EIP-712's hash of what is signed: one for each authorization, whatever its signature. */
export const hashOf = (domain: Domain, message: Authorization): TransactionHash =>
  TypedDataEncoder.hash(domain, SIGNED, message) as TransactionHash;

/** The calldata with which anyone sends it. */
export const encodeCall = (
  { from, to, value, validAfter, validBefore, nonce }: Authorization,
  signature: string,
): string =>
  contract.encodeFunctionData('transferWithAuthorization', [
    from,
    to,
    value,
    validAfter,
    validBefore,
    nonce,
    signature,
  ]);

const ask = (
  token: string,
  from: string,
  name: string,
  args: readonly unknown[] = [],
  at?: BlockTag,
): RpcCall<string | RpcRefusedError> =>
  refusable(callContract({ from, to: token, data: contract.encodeFunctionData(name, args) }, at));

/** What the token says of itself; the answers are read by `domainIn`. */
export const askDomain = (token: string, from: string) =>
  [ask(token, from, 'name'), ask(token, from, 'version'), ask(token, from, 'DOMAIN_SEPARATOR')] as const;

/** Whether a wallet has used or cancelled this nonce; the answer is read by `stateIn`. */
export const askState = (token: string, authorizer: string, nonce: string, at?: BlockTag) =>
  ask(token, authorizer, 'authorizationState', [authorizer, nonce], at);

type Answer = string | RpcRefusedError;

/**
 * The token's domain of EIP-712: what it says of itself, where that makes the separator that it uses. Null for a token
 * that does not support EIP-3009, or whose domain has other fields.
 */
export function domainIn(
  { chain, tokenAddress }: Pick<PaymentTerms, 'chain' | 'tokenAddress'>,
  [name, version, separator]: readonly [Answer, Answer, Answer],
): Domain | null {
  const domain = {
    name: result('name', name),
    version: result('version', version),
    chainId: Number(chain.slice('eip155:'.length)),
    verifyingContract: tokenAddress,
  };
  if (typeof domain.name !== 'string' || typeof domain.version !== 'string') return null;
  const known = { ...domain, name: domain.name, version: domain.version };
  return TypedDataEncoder.hashDomain(known) === result('DOMAIN_SEPARATOR', separator) ? known : null;
}

/** Null where the token did not respond: it does not support EIP-3009. */
export function stateIn(answer: Answer): boolean | null {
  const state = result('authorizationState', answer);
  return typeof state === 'boolean' ? state : null;
}

function result(name: string, answer: Answer): unknown {
  if (answer instanceof RpcRefusedError) return null;
  try {
    return contract.decodeFunctionResult(name, answer)[0];
  } catch {
    // A contract without the function returns nothing, or something else.
    return null;
  }
}
