import type { Address, TransactionHash } from '@pf/domain';
import type { Network, Parsed } from '../port.ts';
import { checksummed } from './checksummed.ts';

const SHAPE = /^0x[0-9a-f]{40}$/i;
const HASH = /^0x[0-9a-f]{64}$/i;

/** Up to 0x01ff: Ethereum's precompiles and those that rollups add (P256 verification is 0x0100). */
const LAST_PRECOMPILE = 0x1ffn;
/** The OP stack's own contracts: 2048 addresses from 0x4200…0000. Money sent there is lost. */
const FIRST_PREDEPLOY = BigInt('0x4200000000000000000000000000000000000000');
const LAST_PREDEPLOY = FIRST_PREDEPLOY + 0x7ffn;

/**
 * Where chains put contracts of their own, today's and tomorrow's: up to eight bytes that name one, zeros, and a number
 * of one byte. No key has such an address: that would take 2^88 attempts.
 */
const SYSTEM = /^0x[0-9a-f]{16}0{22}[0-9a-f]{2}$/i;

const problem = (text: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem: text });

/**
 * The canonical form of an EVM address, checksummed after EIP-55. An address in one case is accepted as it is; in mixed
 * case its checksum must match.
 */
function parseEvmAddress(text: string): Parsed<Address> {
  if (!SHAPE.test(text)) return problem('must be an EVM address: 0x and 40 hexadecimal digits');
  const canonical = checksummed(text);
  const digits = text.slice(2);
  const mixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (mixed && digits !== canonical.slice(2)) return problem('has an invalid EIP-55 checksum');
  return { ok: true, value: canonical };
}

/** A wallet's address on a network: one that can pay or be paid. */
export function parseWalletAddress(network: Network, text: string): Parsed<Address> {
  const parsed = parseEvmAddress(text);
  if (!parsed.ok) return parsed;
  const number = BigInt(parsed.value);
  if (number === 0n) return problem('is the zero address');
  if (number <= LAST_PRECOMPILE) return problem('is a precompiled contract');
  if (number >= FIRST_PREDEPLOY && number <= LAST_PREDEPLOY) return problem("is one of the chain's own contracts");
  const token = network.tokens.find(({ address }) => (address as string) === parsed.value);
  if (token !== undefined) return problem(`is the address of the token ${token.symbol}`);
  return SYSTEM.test(parsed.value) ? problem('is an address that chains have for their own contracts') : parsed;
}

export function parseEvmHash(text: string): Parsed<TransactionHash> {
  if (!HASH.test(text)) return problem('must be a transaction hash: 0x and 64 hexadecimal digits');
  return { ok: true, value: text.toLowerCase() as TransactionHash };
}
