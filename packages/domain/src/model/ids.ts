/**
 * Branded text: a chain id is not an address, an address is not a hash, though all are strings. Only parsers give a
 * brand (packages/contracts, the chain adapters).
 */
declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** `pi_` and the base58 of 16 bytes, of which byte 0 is the partition. */
export type IntentId = Brand<string, 'IntentId'>;
export type AccountId = Brand<string, 'AccountId'>;
export type CommandId = Brand<string, 'CommandId'>;
/** CAIP-2: `eip155:84532`. */
export type ChainId = Brand<string, 'ChainId'>;
/** A wallet's address in its chain's canonical form: EIP-55 checksummed, or base58. */
export type Address = Brand<string, 'Address'>;
/** The address of a token's contract or mint, in canonical form. */
export type TokenAddress = Brand<string, 'TokenAddress'>;
/** An EVM transaction hash (`0x`, 64 lower-case hex digits) or a Solana signature (base58). */
export type TransactionHash = Brand<string, 'TransactionHash'>;
/** Ties a transfer to its intent: bytes32 as lower-case hex on EVM chains, a base58 public key on Solana. */
export type Reference = Brand<string, 'Reference'>;
/** `dp_` and the base58 of 16 bytes, of which byte 0 is the partition and the others name the transfer. */
export type DepositId = Brand<string, 'DepositId'>;
/** Milliseconds since 1970, UTC. */
export type Instant = number;
