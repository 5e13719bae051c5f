import { createPrivateKey, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import {
  type Hex,
  hexToBytes,
  keccak256,
  parseTransaction,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { Account, Transaction } from 'viem/tempo';
import { nodeRpc } from '../../../../packages/testing/src/chains/node-rpc.ts';
import { type StackChain, type StackWallet } from '@pf/testing';
import { solanaWallet } from '@pf/testing/wallets';

/** What a wallet returns to the app: the text to submit, and the hash under which the transaction will land. */
interface Signed {
  readonly text: string;
  readonly hash: string;
}
/** How a kind of wallet changes, signs and perhaps sends the blob of `build`. */
export type Shape = (chain: StackChain, payer: StackWallet, blob: string) => Promise<Signed>;

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, 'base64'));
const hexOf = (base64: string): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`;

// Solana
// ---------------------------------------------------------------------------------------------------------------

const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');
/** AssertAccountInfo on lamports and AssertTokenAccount on the amount: log level silent, operator "at least". */
const ASSERTIONS = { lamports: [4, 0, 0], tokens: [8, 0, 2] } as const;
const AT_LEAST = 4;

function guard(kind: keyof typeof ASSERTIONS, account: PublicKey, least: bigint): TransactionInstruction {
  const value = Buffer.alloc(8);
  value.writeBigUInt64LE(least);
  return new TransactionInstruction({
    programId: LIGHTHOUSE,
    keys: [{ pubkey: account, isSigner: false, isWritable: false }],
    data: Buffer.from([...ASSERTIONS[kind], ...value, AT_LEAST]),
  });
}

type Instructions = readonly TransactionInstruction[];
const isBudget = ({ programId }: TransactionInstruction): boolean => programId.equals(ComputeBudgetProgram.programId);
const sourceIn = (instructions: Instructions): PublicKey => instructions.at(-1)?.keys[0]?.pubkey ?? PublicKey.default;

/** Decompiles the message, changes its instructions, optionally refreshes the blockhash, and signs. */
const rewritten =
  (change: (instructions: Instructions, payer: PublicKey) => Instructions, refreshes = false): Shape =>
  async (chain, payer, blob) => {
    const wallet = solanaWallet(chain, payer);
    const recentBlockhash = refreshes ? (await wallet.connection.getLatestBlockhash()).blockhash : undefined;
    const text = await wallet.sign(blob, ({ message }) => {
      const opened = TransactionMessage.decompile(message);
      opened.instructions = [...change(opened.instructions, opened.payerKey)];
      opened.recentBlockhash = recentBlockhash ?? opened.recentBlockhash;
      return new VersionedTransaction(opened.compileToV0Message());
    });
    return { text, hash: base58.encode(bytesOf(text).subarray(1, 65)) };
  };

/** The PKCS #8 prefix of an ed25519 key; its 32 bytes follow (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** A hardware wallet signs the message byte for byte; the app inserts the signature. */
const device: Shape = async (_chain, { privateKey }, blob) => {
  const key = createPrivateKey({
    key: Buffer.concat([PKCS8, base58.decode(privateKey).subarray(0, 32)]),
    format: 'der',
    type: 'pkcs8',
  });
  const raw = bytesOf(blob);
  const signature = sign(null, raw.subarray(65), key);
  raw.set(signature, 1);
  return { text: Buffer.from(raw).toString('base64'), hash: base58.encode(signature) };
};
const budget = (units: number, microLamports: number): Instructions => [
  ComputeBudgetProgram.setComputeUnitLimit({ units }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
];

const phantom = rewritten((instructions, payer) => [
  ...budget(120_000, 187_500),
  guard('lamports', payer, 1n),
  ...instructions.filter((one) => !isBudget(one)),
  guard('tokens', sourceIn(instructions), 1n),
  guard('lamports', payer, 1n),
]);
const solflare = rewritten((instructions, payer) => [
  ...instructions,
  guard('lamports', payer, 1n),
  guard('tokens', sourceIn(instructions), 1n),
]);
const slow = rewritten((instructions) => instructions, true);
/** Mobile Wallet Adapter 2: the wallet sends the transaction itself and returns only the signature. */
const mobile: Shape = async (chain, payer, blob) => {
  const { text, hash } = await phantom(chain, payer, blob);
  await nodeRpc(chain.rpcUrl)('sendTransaction', text, { encoding: 'base64', preflightCommitment: 'confirmed' });
  return { text: hash, hash };
};

// Base
// -----------------------------------------------------------------------------------------------------------------

/** The ERC-8021 suffix that Coinbase's wallet appends: an app's code, its length, schema 0, the marker. */
const ATTRIBUTION = '626173656170700700' + '80218021802180218021802180218021';

const evm =
  (change: (transaction: TransactionSerializableEIP1559) => TransactionSerializable): Shape =>
  async (_chain, { privateKey }, blob) => {
    const unsigned = parseTransaction(hexOf(blob)) as TransactionSerializableEIP1559;
    const text = await privateKeyToAccount(privateKey as Hex).signTransaction(change(unsigned));
    return { text, hash: keccak256(text) };
  };
const coinbase = evm((transaction) => ({ ...transaction, data: `${transaction.data ?? '0x'}${ATTRIBUTION}` }));
const legacy = evm(({ maxFeePerGas, maxPriorityFeePerGas: _tip, accessList: _list, type: _type, ...rest }) => ({
  ...rest,
  type: 'legacy',
  gasPrice: maxFeePerGas,
}));
/** The wallet sends the transaction itself and returns only the hash. */
const signsAndSends =
  (shape: Shape): Shape =>
  async (chain, payer, blob) => {
    const { text, hash } = await shape(chain, payer, blob);
    await nodeRpc(chain.rpcUrl)('eth_sendRawTransaction', text);
    return { text: hash, hash };
  };
const metamask = signsAndSends(
  evm(({ gas, maxFeePerGas, ...rest }) => ({
    ...rest,
    gas: (gas ?? 0n) * 2n,
    maxFeePerGas: (maxFeePerGas ?? 0n) * 2n,
    maxPriorityFeePerGas: 1_500_000n,
  })),
);
/** An EIP-7702 account has code but signs and sends as an EOA. */
const delegated: Shape = async (chain, payer, blob) => {
  await nodeRpc(chain.rpcUrl)('anvil_setCode', payer.address, `0xef0100${'44'.repeat(20)}`);
  return evm((transaction) => transaction)(chain, payer, blob);
};

// Tempo
// ----------------------------------------------------------------------------------------------------------------

/** Tempo accounts by the kind of their key. */
export const tempoAccounts = {
  key: (seed: Hex) => Account.fromSecp256k1(seed),
  p256: (seed: Hex) => Account.fromP256(seed),
  passkey: (seed: Hex) =>
    Account.fromHeadlessWebAuthn(seed, { rpId: 'wallet.example', origin: 'https://wallet.example' }),
} as const;

const tempo =
  (kind: keyof typeof tempoAccounts, sponsored = false): Shape =>
  async (chain, { privateKey }, blob) => {
    const unsigned = Transaction.deserialize(hexOf(blob));
    // The last of the chain's wallets sponsors fees.
    const sponsor = sponsored ? { feePayer: Account.fromSecp256k1(chain.wallets.at(-1)?.privateKey as Hex) } : {};
    const text = await tempoAccounts[kind](privateKey as Hex).signTransaction({ ...unsigned, ...sponsor } as never);
    return { text: Buffer.from(hexToBytes(text)).toString('base64'), hash: keccak256(text) };
  };
const tempoSends: Shape = async (chain, payer, blob) => {
  const { text, hash } = await tempo('key')(chain, payer, blob);
  await nodeRpc(chain.rpcUrl)('eth_sendRawTransaction', hexOf(text));
  return { text: hash, hash };
};

/** Signs the blob unchanged. */
export const plain = { base: evm((transaction) => transaction), solana: device, tempo: tempo('key') } as const;

/** Kinds of wallets by chain; on Tempo with the kind of key. */
export const shapes = {
  solana: [
    { name: 'Phantom (Lighthouse guards before and after, its own compute budget)', shape: phantom },
    { name: 'Solflare (two Lighthouse guards)', shape: solflare },
    { name: 'a Ledger (unchanged bytes)', shape: device },
    { name: 'a slow wallet (refreshed blockhash)', shape: slow },
    { name: 'a mobile wallet (sends itself, returns the signature)', shape: mobile },
  ],
  base: [
    { name: 'MetaMask (sends itself, its own gas and fees)', shape: metamask },
    { name: "Coinbase's EOA wallet (ERC-8021 suffix)", shape: coinbase },
    { name: "Coinbase's EOA wallet, sending itself", shape: signsAndSends(coinbase) },
    { name: 'a Ledger (legacy transaction)', shape: legacy },
    { name: 'an EIP-7702 account that sends itself', shape: delegated },
  ],
  tempo: [
    { name: 'a secp256k1 key', shape: tempo('key'), kind: 'key' },
    { name: 'a P256 key', shape: tempo('p256'), kind: 'p256' },
    { name: 'a WebAuthn passkey', shape: tempo('passkey'), kind: 'passkey' },
    { name: 'a secp256k1 key with a fee sponsor', shape: tempo('key', true), kind: 'key' },
    { name: 'a passkey with a fee sponsor', shape: tempo('passkey', true), kind: 'passkey' },
    { name: 'a wallet that sends itself and returns the hash', shape: tempoSends, kind: 'key' },
  ],
} as const;
