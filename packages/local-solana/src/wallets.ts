import { createHmac, createPrivateKey, createPublicKey, pbkdf2Sync } from 'node:crypto';
import { base58 } from '@scure/base';

/** The well-known mnemonic of Hardhat and anvil. Never send real money to its addresses. */
export const MNEMONIC = 'test test test test test test test test test test test junk';
const WALLETS = 8;
/** The mnemonic's account that the node itself uses: faucet and mint authority. */
const NODE = 1_000;

export interface Wallet {
  /** Base58. */
  readonly address: string;
  /** Base58 of 64 bytes, seed and public key, the export format of Phantom and Solflare. */
  readonly privateKey: string;
}

const hmac = (key: string | Uint8Array, ...data: Uint8Array[]): Buffer =>
  createHmac('sha512', key).update(Buffer.concat(data)).digest();

/** SLIP-0010 for ed25519 (every step is hardened), with the path of wallets: m/44'/501'/account'/0'. */
function seedOf(account: number): Buffer {
  const seed = pbkdf2Sync(MNEMONIC, 'mnemonic', 2_048, 64, 'sha512');
  const child = (node: Buffer, index: number): Buffer => {
    const number = Buffer.alloc(4);
    number.writeUInt32BE(0x8000_0000 + index);
    return hmac(node.subarray(32), Buffer.of(0), node.subarray(0, 32), number);
  };
  return [44, 501, account, 0].reduce(child, hmac('ed25519 seed', seed)).subarray(0, 32);
}

/** The PKCS #8 prefix of an ed25519 key; its 32 bytes follow (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

function wallet(account: number): Wallet {
  const seed = seedOf(account);
  const key = createPublicKey(createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' }))
    .export({ format: 'der', type: 'spki' })
    .subarray(-32);
  return { address: base58.encode(key), privateKey: base58.encode(Buffer.concat([seed, key])) };
}

/**
 * The wallets of a new chain: the first eight accounts of the mnemonic, each with SOL and a million of
 * each token.
 */
export const wallets: readonly Wallet[] = Array.from({ length: WALLETS }, (_, account) => wallet(account));
/** The node's own key: it pays airdrops, and is the mint and freeze authority of the tokens. */
export const nodeWallet: Wallet = wallet(NODE);
