import { getMintEncoder } from '@solana-program/token';
import type { Address } from '@solana/kit';
import { base58 } from '@scure/base';
import { lighthouse } from './lighthouse.ts';
import { mint } from './payout.ts';
import type { Chain } from './chain.ts';
import type { Account } from './runtime.ts';
import { DECIMALS, programOf, TOKEN_2022, tokens } from './tokens.ts';
import { nodeWallet, wallets } from './wallets.ts';

const SOL = 1_000_000_000n;
const NODE_SOL = 1_000_000_000n * SOL;
const WALLET_SOL = 1_000n * SOL;
/** A million of each token. */
const TOKENS = 1_000_000n * 10n ** BigInt(DECIMALS);
const SYSTEM = '11111111111111111111111111111111';

const key = (address: string): Uint8Array => base58.decode(address);
const u16 = (value: number): Uint8Array => Uint8Array.of(value & 255, value >> 8);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const text = (value: string): Uint8Array => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);

/**
 * The Token-2022 extensions of PYUSD's mint: a zero transfer fee, a close authority, a permanent delegate, a transfer
 * hook without a program, and metadata in the mint itself; and a switch that pauses all transfers, for tests of tokens
 * that have one. By their number in the program's ExtensionType.
 */
function extensions(mintAddress: string): Uint8Array {
  const authority = key(nodeWallet.address);
  const nullKey = new Uint8Array(32);
  const metadata = [
    authority,
    key(mintAddress),
    text('PayPal USD'),
    text('PYUSD'),
    text('https://token-metadata.paxos.com/pyusd_metadata/prod/solana/pyusd_metadata.json'),
    u32(0),
  ];
  const list: (readonly [number, Uint8Array[]])[] = [
    [1, [authority, authority, new Uint8Array(8 + 18 + 18)]],
    [3, [authority]],
    [12, [authority]],
    [14, [authority, nullKey]],
    [18, [authority, key(mintAddress)]],
    [19, metadata],
    [26, [authority, Uint8Array.of(0)]],
  ];
  return Buffer.concat(list.flatMap(([type, parts]) => [u16(type), u16(Buffer.concat(parts).length), ...parts]));
}

function mintData(mintAddress: string, program: string): Uint8Array {
  const authority = nodeWallet.address as Address;
  const base = new Uint8Array(
    getMintEncoder().encode({
      mintAuthority: authority,
      supply: 0n,
      decimals: DECIMALS,
      isInitialized: true,
      freezeAuthority: authority,
    }),
  );
  if (program !== TOKEN_2022) return base;
  // Extensions begin after the length of a token account and a byte for the account type "mint".
  return Buffer.concat([base, new Uint8Array(165 - base.length), Uint8Array.of(1), extensions(mintAddress)]);
}

/** The accounts of a new chain, besides those of the runtime. */
export function genesisAccounts(rent: (bytes: number) => bigint): (readonly [string, Account])[] {
  const wallet = (address: string, lamports: bigint): readonly [string, Account] => [
    address,
    { lamports, owner: SYSTEM, executable: false, data: new Uint8Array() },
  ];
  const mints = Object.entries(tokens).map(([symbol, address]): readonly [string, Account] => {
    const owner = programOf[symbol as keyof typeof tokens];
    const data = mintData(address, owner);
    return [address, { lamports: rent(data.length), owner, executable: false, data }];
  });
  return [
    wallet(nodeWallet.address, NODE_SOL),
    ...wallets.map(({ address }) => wallet(address, WALLET_SOL)),
    ...mints,
    lighthouse(rent),
  ];
}

/** Mints the wallets' tokens, with transactions in the first slot. */
export async function mintTokens(chain: Chain): Promise<void> {
  const blockhash = chain.blockhash(chain.clock.slot());
  for (const { address } of wallets) {
    for (const [symbol, mintAddress] of Object.entries(tokens)) {
      chain.send(
        await mint(
          blockhash,
          address,
          { mint: mintAddress, program: programOf[symbol as keyof typeof tokens] },
          TOKENS,
        ),
      );
    }
  }
}
