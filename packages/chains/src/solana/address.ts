import { randomBytes } from 'node:crypto';
import type { Address, Reference, TransactionHash } from '@pf/domain';
import { address, getBase58Decoder, isAddress, isOffCurveAddress, isSignature } from '@solana/kit';
import type { Network, Parsed } from '../port.ts';
import { PROGRAMS, SYSTEM_PROGRAM_ADDRESS } from './programs.ts';

const ADDRESS_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** Addresses of native programs, sysvars and the incinerator end in a row of ones; no known key's address does. */
const RESERVED = /1{8}$/;

/** The library's check throws on some texts with other characters. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
export const isAddressText = (text: string): boolean => BASE58.test(text) && isAddress(text);
export const isSignatureText = (text: string): boolean => BASE58.test(text) && isSignature(text);

const problem = (text: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem: text });

const randomBase58 = (bytes: number): string => getBase58Decoder().decode(randomBytes(bytes));
export const randomAddress = (): Address => randomBase58(ADDRESS_BYTES) as Address;
export const randomReference = (): Reference => randomBase58(ADDRESS_BYTES) as Reference;
export const randomSignature = (): TransactionHash => randomBase58(SIGNATURE_BYTES) as TransactionHash;

/**
 * A wallet's address on a network: one that can pay or be paid. An address off the curve may be a program's wallet (a
 * multisig, a vault), which can be paid.
 */
export function parseWalletAddress(network: Network, text: string): Parsed<Address> {
  if (!isAddressText(text)) return problem('must be a Solana address: base58 of 32 bytes');
  if (text === SYSTEM_PROGRAM_ADDRESS) return problem('is the zero address');
  const token = network.tokens.find(({ address }) => (address as string) === text);
  if (token !== undefined) return problem(`is the address of the token ${token.symbol}`);
  if (PROGRAMS.has(text) || RESERVED.test(text)) return problem("is one of the chain's own programs or accounts");
  return { ok: true, value: text as Address };
}

/** Whether no key signs for this address: a program does, for whomever it serves. */
export const isProgramsWallet = (wallet: Address): boolean => isOffCurveAddress(address(wallet));

/** A transaction's signature, which identifies it: base58 of 64 bytes. */
export function parseSignature(text: string): Parsed<TransactionHash> {
  return isSignatureText(text)
    ? { ok: true, value: text as TransactionHash }
    : problem('must be a transaction signature: base58 of 64 bytes');
}
