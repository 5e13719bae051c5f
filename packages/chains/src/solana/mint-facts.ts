import type { RpcNode } from '@pf/rpc';
import { type Address, getAddressDecoder } from '@solana/kit';
import type { Token } from '../networks.ts';
import type { TokenFacts } from '../token-facts.ts';
import { type AccountInfo, getMultipleAccounts } from './calls.ts';
import { SYSTEM_PROGRAM_ADDRESS, TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from './programs.ts';

const MINT_BYTES = 82;
const DECIMALS_AT = 44;
/** An optional key: its presence as u32, then the key. */
const FREEZE_AUTHORITY_AT = 46;
/** Extensions of Token-2022 begin behind the length of a token account and a byte for the type of account. */
const EXTENSIONS_AT = 166;
const KEY_BYTES = 32;

/** By their number in Token-2022's ExtensionType. */
const [DEFAULT_ACCOUNT_STATE, TRANSFER_HOOK, METADATA, PAUSABLE] = [6, 14, 19, 26] as const;
const FROZEN = 2;

const readAddress = (data: Uint8Array, at: number): Address | null =>
  data.length < at + KEY_BYTES ? null : getAddressDecoder().decode(data, at);

/** The extensions of a mint, each a type and a length (u16) and its bytes; what is cut off ends the list. */
function extensionsOf(data: Uint8Array): ReadonlyMap<number, Uint8Array> {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const found = new Map<number, Uint8Array>();
  for (let at = EXTENSIONS_AT; at + 4 <= data.length;) {
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    if (type === 0 || at + 4 + length > data.length) break;
    found.set(type, data.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return found;
}

/** The symbol in a mint's own metadata: two keys, then texts, each behind its length (u32): name, symbol, URI. */
function symbolIn(metadata: Uint8Array | undefined): string | null {
  if (metadata === undefined) return null;
  const view = new DataView(metadata.buffer, metadata.byteOffset, metadata.byteLength);
  const textAt = (at: number): Uint8Array | null => {
    const length = at + 4 > metadata.length ? Infinity : view.getUint32(at, true);
    return at + 4 + length > metadata.length ? null : metadata.subarray(at + 4, at + 4 + length);
  };
  const name = textAt(2 * KEY_BYTES);
  const symbol = name && textAt(2 * KEY_BYTES + 4 + name.length);
  return symbol && new TextDecoder().decode(symbol);
}

/** What a mint says of itself; null of an account that is none. The original token program has no symbols. */
export function factsIn(account: AccountInfo | null): TokenFacts | null {
  if (account === null || account.data.length < MINT_BYTES) return null;
  const { owner, data } = account;
  if (owner !== TOKEN_PROGRAM_ADDRESS && owner !== TOKEN_2022_PROGRAM_ADDRESS) return null;
  const extensions = extensionsOf(data);
  const hook = readAddress(extensions.get(TRANSFER_HOOK) ?? new Uint8Array(), KEY_BYTES);
  const freezer = data[FREEZE_AUTHORITY_AT] === 1 ? readAddress(data, FREEZE_AUTHORITY_AT + 4) : null;
  const obstacle =
    extensions.get(DEFAULT_ACCOUNT_STATE)?.[0] === FROZEN
      ? 'new accounts are frozen until its issuer thaws them'
      : hook !== null && hook !== SYSTEM_PROGRAM_ADDRESS
        ? `a transfer hook (${hook}), whose accounts our transfers do not name`
        : null;
  const paused = extensions.get(PAUSABLE)?.[KEY_BYTES];
  return {
    symbol: symbolIn(extensions.get(METADATA)),
    decimals: data[DECIMALS_AT] ?? null,
    currency: null,
    isPaused: paused === undefined ? null : paused === 1,
    program: owner === TOKEN_2022_PROGRAM_ADDRESS ? 'token-2022' : 'token',
    blocklist: freezer && `freeze authority ${freezer}`,
    obstacle,
  };
}

/** What mints say of themselves; null of one that is not there. */
export async function factsOfMints(node: RpcNode, tokens: readonly Token[]): Promise<readonly (TokenFacts | null)[]> {
  const mints = tokens.map((token) => token.address as string as Address);
  const { value } = await node.call(getMultipleAccounts(mints));
  return value.map(factsIn);
}
