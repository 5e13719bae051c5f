import type { Account } from './runtime.ts';
import { FROZEN, readTokenAccount, STATE_OFFSET } from './token-account.ts';
import { TOKEN, TOKEN_2022 } from './tokens.ts';
import type { Wire } from './wire.ts';

/** An account before, and while, a transaction is made to fail. */
export interface Spoilt {
  readonly address: string;
  readonly sound: Account;
  readonly spoilt: Account;
}

/**
 * How to change the accounts of a transaction so that it really fails on chain: the payer's token accounts are
 * frozen; without any, the payer keeps only the fee and the rent of its account.
 */
export function spoil(
  { message, payer }: Wire,
  accounts: ReadonlyMap<string, Account | null>,
  leave: bigint,
): Spoilt[] {
  const signers = new Set<string>(message.staticAccounts.slice(0, message.header.numSignerAccounts));
  const frozen = [...accounts].flatMap(([address, account]) => {
    if (account === null || (account.owner !== TOKEN && account.owner !== TOKEN_2022)) return [];
    const held = readTokenAccount(account);
    if (held === null || !signers.has(held.owner)) return [];
    const data = Uint8Array.from(account.data);
    data[STATE_OFFSET] = FROZEN;
    return [{ address, sound: account, spoilt: { ...account, data } }];
  });
  const wallet = accounts.get(payer);
  if (frozen.length > 0 || !wallet || wallet.lamports <= leave) return frozen;
  return [{ address: payer, sound: wallet, spoilt: { ...wallet, lamports: leave } }];
}

/** The account after the transaction, with the change undone. */
export function repair({ sound, spoilt }: Spoilt, after: Account | null): Account | null {
  if (after === null) return null;
  const data = Uint8Array.from(after.data);
  const state = sound.data[STATE_OFFSET];
  if (sound.lamports === spoilt.lamports && state !== undefined && data.length > STATE_OFFSET)
    data[STATE_OFFSET] = state;
  return { ...after, data, lamports: after.lamports + sound.lamports - spoilt.lamports };
}
