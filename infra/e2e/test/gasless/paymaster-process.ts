// A paymaster service of ERC-7677: it holds a key whose signature its contracts on the chain take for a promise to pay.
// How honest it is, the path says. Run as a process of its own, with RPC_URL, PRIVATE_KEY and PAYMASTERS.
import { type Abi, concat, createPublicClient, encodeAbiParameters, type Hex, http, pad, parseAbi, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { PaymasterRequest } from './relayer.ts';
import { type Answer, serve } from './serve.ts';

const { RPC_URL = '', PRIVATE_KEY = '', PAYMASTERS = '{}' } = process.env;
const signer = privateKeyToAccount(PRIVATE_KEY as Hex);
const node = createPublicClient({ transport: http(RPC_URL) });
const paymasters = JSON.parse(PAYMASTERS) as Readonly<Record<string, Hex>>;

const OLDEST = '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789';
const SECONDS = 600;
/** Gas of the contract. */
const LIMITS = { paymasterVerificationGasLimit: toHex(200_000), paymasterPostOpGasLimit: toHex(0) } as const;
const NO_SIGNATURE = toHex(0, { size: 65 });
/** The fields of an operation, of which some are packed into one from version 0.7 on. */
function hashing(limits: string, fees: string): Abi {
  const signatures: readonly string[] = [
    'struct Operation { address sender; uint256 nonce; bytes initCode; bytes callData; ' +
      `${limits} uint256 preVerificationGas; ${fees} bytes paymasterAndData; bytes signature; }`,
    'function getHash(Operation operation, uint48 validUntil, uint48 validAfter) view returns (bytes32)',
  ];
  return parseAbi(signatures);
}
const unpacked = hashing(
  'uint256 callGasLimit; uint256 verificationGasLimit;',
  'uint256 maxFeePerGas; uint256 maxPriorityFeePerGas;',
);
const packed = hashing('bytes32 accountGasLimits;', 'bytes32 gasFees;');

/** What the wallet is to put into its operation. */
async function promise([operation, entryPoint]: PaymasterRequest['params']): Promise<Readonly<Record<string, Hex>>> {
  const isOldest = entryPoint === OLDEST;
  const paymaster = paymasters[isOldest ? '0.6' : '0.7'] ?? '0x';
  const times = [Math.floor(Date.now() / 1_000) + SECONDS, 0] as const;
  const data = (signature: Hex): Hex =>
    concat([encodeAbiParameters([{ type: 'uint48' }, { type: 'uint48' }], times), signature]);
  const number = (field: string): bigint => BigInt(operation[field] ?? 0);
  const pair = (high: string, low: string): Hex => toHex((number(high) << 128n) | number(low), { size: 32 });
  const common = {
    sender: operation['sender'] as Hex,
    nonce: number('nonce'),
    initCode: operation['initCode'] ?? '0x',
    callData: operation['callData'] as Hex,
    preVerificationGas: number('preVerificationGas'),
    signature: '0x',
  } as const;
  const read = { address: paymaster, functionName: 'getHash' } as const;
  if (isOldest) {
    const whole = {
      ...common,
      callGasLimit: number('callGasLimit'),
      verificationGasLimit: number('verificationGasLimit'),
      maxFeePerGas: number('maxFeePerGas'),
      maxPriorityFeePerGas: number('maxPriorityFeePerGas'),
      // What is hashed has the places of what follows it.
      paymasterAndData: concat([paymaster, data(NO_SIGNATURE)]),
    };
    const hash = (await node.readContract({ ...read, abi: unpacked, args: [whole, ...times] })) as Hex;
    return { paymasterAndData: concat([paymaster, data(await signer.signMessage({ message: { raw: hash } }))]) };
  }
  const limits = concat([
    pad(LIMITS.paymasterVerificationGasLimit, { size: 16 }),
    pad(LIMITS.paymasterPostOpGasLimit, { size: 16 }),
  ]);
  const whole = {
    ...common,
    accountGasLimits: pair('verificationGasLimit', 'callGasLimit'),
    gasFees: pair('maxPriorityFeePerGas', 'maxFeePerGas'),
    paymasterAndData: concat([paymaster, limits, data(NO_SIGNATURE)]),
  };
  const hash = (await node.readContract({ ...read, abi: packed, args: [whole, ...times] })) as Hex;
  return { ...LIMITS, paymaster, paymasterData: data(await signer.signMessage({ message: { raw: hash } })) };
}

let asked = 0;
const result = (value: unknown): Answer => ({ status: 200, body: { jsonrpc: '2.0', id: 1, result: value } });
const refusal = (message: string): Answer => ({
  status: 200,
  body: { jsonrpc: '2.0', id: 1, error: { code: -32000, message } },
});
serve<PaymasterRequest>({
  '/honest': async ({ params }) => {
    asked += 1;
    return result(await promise(params));
  },
  '/by-policy': async ({ params }) => {
    const { policyId } = params[3];
    return policyId === 'of the shop' ? result(await promise(params)) : refusal(`unknown policy: ${policyId}`);
  },
  '/refuses': async () => refusal('not today'),
  '/lies': async () => result({ paymasterAndData: 'as you like' }),
  '/hangs': () => new Promise<never>(() => {}),
  '/asked': async () => result(asked),
});
