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
import { solanaWallet, type StackChain, type StackWallet } from '@pf/testing';

/** What the app of a wallet hands over: the text that is submitted, and the hash under which it will land. */
interface Signed {
  readonly text: string;
  readonly hash: string;
}
/** What a kind of wallet makes of the blob of `build`. */
export type Shape = (chain: StackChain, payer: StackWallet, blob: string) => Promise<Signed>;

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, 'base64'));
const hexOf = (base64: string): Hex => `0x${Buffer.from(base64, 'base64').toString('hex')}`;

// Solana
// ---------------------------------------------------------------------------------------------------------------

const LIGHTHOUSE = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');
/** AssertAccountInfo, of its lamports; AssertTokenAccount, of its amount. In silence, at least so much. */
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

/** Takes the message apart, changes its instructions, puts a newer blockhash in where there is one, and signs. */
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

/** PKCS #8 of an ed25519 key is this, then its 32 bytes (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** A device signs the message it is given, byte for byte; the app puts the signature in its place. */
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
/** Mobile Wallet Adapter 2: the wallet sends what it has signed, and tells the signature alone. */
const mobile: Shape = async (chain, payer, blob) => {
  const { text, hash } = await phantom(chain, payer, blob);
  await nodeRpc(chain.rpcUrl)('sendTransaction', text, { encoding: 'base64', preflightCommitment: 'confirmed' });
  return { text: hash, hash };
};

// Base
// -----------------------------------------------------------------------------------------------------------------

/** ERC-8021 with the code of an app, as Coinbase's wallet appends it: codes, their length, schema 0, the marker. */
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
/** Its own gas and fees, out at once; the app learns the hash alone. */
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
/** An EIP-7702 account has code and still signs and sends for itself. */
const delegated: Shape = async (chain, payer, blob) => {
  await nodeRpc(chain.rpcUrl)('anvil_setCode', payer.address, `0xef0100${'44'.repeat(20)}`);
  return evm((transaction) => transaction)(chain, payer, blob);
};

// Tempo
// ----------------------------------------------------------------------------------------------------------------

/** An account of Tempo by what signs for it. */
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
    // The last of the chain's wallets pays other people's fees.
    const sponsor = sponsored ? { feePayer: Account.fromSecp256k1(chain.wallets.at(-1)?.privateKey as Hex) } : {};
    const text = await tempoAccounts[kind](privateKey as Hex).signTransaction({ ...unsigned, ...sponsor } as never);
    return { text: Buffer.from(hexToBytes(text)).toString('base64'), hash: keccak256(text) };
  };
const tempoSends: Shape = async (chain, payer, blob) => {
  const { text, hash } = await tempo('key')(chain, payer, blob);
  await nodeRpc(chain.rpcUrl)('eth_sendRawTransaction', hexOf(text));
  return { text: hash, hash };
};

/** The blob as it came, signed. */
export const plain = { base: evm((transaction) => transaction), solana: device, tempo: tempo('key') } as const;

/** By the name of who sends such transactions; on Tempo with what signs for the payer. */
export const shapes = {
  solana: [
    { name: 'Phantom: guards before and behind, a compute budget of its own', shape: phantom },
    { name: 'Solflare: two guards', shape: solflare },
    { name: 'a Ledger: the bytes as they are', shape: device },
    { name: 'a wallet that took its time: a refreshed blockhash', shape: slow },
    { name: 'a phone: the signature of what it sent by itself', shape: mobile },
  ],
  base: [
    { name: 'MetaMask: the hash of what it sent by itself, gas and fees its own', shape: metamask },
    { name: "Coinbase's wallet of one key: an ERC-8021 suffix", shape: coinbase },
    { name: 'the same, sent by itself', shape: signsAndSends(coinbase) },
    { name: 'a Ledger: a transaction of type 0', shape: legacy },
    { name: 'an EIP-7702 account that sends for itself', shape: delegated },
  ],
  tempo: [
    { name: 'a key', shape: tempo('key'), kind: 'key' },
    { name: 'a P256 key', shape: tempo('p256'), kind: 'p256' },
    { name: 'a passkey by WebAuthn', shape: tempo('passkey'), kind: 'passkey' },
    { name: 'a key whose fee another account pays', shape: tempo('key', true), kind: 'key' },
    { name: 'a passkey whose fee another account pays', shape: tempo('passkey', true), kind: 'passkey' },
    { name: 'the hash of what it sent by itself', shape: tempoSends, kind: 'key' },
  ],
} as const;
