import { z } from 'zod';
import { accountJson } from '../account-json.ts';
import { uiAmount } from '../meta.ts';
import { invalidParams } from '../rpc/error.ts';
import { bankSlot, inContext, method, type Methods, type Node } from '../rpc/method.ts';
import { accountBank, address, bank, base58, base64, count, optional } from '../rpc/schemas.ts';
import type { Account } from '../runtime.ts';
import { readMint, readTokenAccount } from '../token-account.ts';
import { TOKEN, TOKEN_2022 } from '../tokens.ts';

const reader =
  ({ chain }: Node, slot: number) =>
  (of: string): Account | null =>
    chain.account(of, slot);
const memcmp = z.union([
  z.object({ offset: count, bytes: base64, encoding: z.literal('base64') }),
  z.object({ offset: count, bytes: base58, encoding: optional(z.literal('base58')) }),
]);
const filter = z.union([z.object({ dataSize: count }), z.object({ memcmp })]);
const ownedBy = z.union([z.object({ mint: address }), z.object({ programId: address })]);

function tokenAccount(account: Account | null): NonNullable<ReturnType<typeof readTokenAccount>> {
  const held =
    account !== null && (account.owner === TOKEN || account.owner === TOKEN_2022) ? readTokenAccount(account) : null;
  if (account === null) throw invalidParams('Invalid param: could not find account');
  if (held === null) throw invalidParams('Invalid param: not a Token account');
  return held;
}
function decimalsOf(account: Account | null): number {
  const mint = readMint(account);
  if (mint === null) throw invalidParams('Invalid param: could not find mint');
  return mint.decimals;
}

/** Methods that read accounts at the slot of the commitment. */
export const accountMethods: Methods = {
  getBalance: method(z.tuple([address, optional(bank)]), (node, [of, config]) => {
    const slot = bankSlot(node, config);
    return inContext(slot, node.chain.account(of, slot)?.lamports ?? 0n);
  }),
  getAccountInfo: method(z.tuple([address, optional(accountBank)]), (node, [of, config]) => {
    const slot = bankSlot(node, config);
    const account = node.chain.account(of, slot);
    return inContext(slot, account && accountJson(account, reader(node, slot), config));
  }),
  getMultipleAccounts: method(z.tuple([z.array(address), optional(accountBank)]), (node, [of, config]) => {
    if (of.length > 100) throw invalidParams('Too many inputs provided; max 100');
    const slot = bankSlot(node, config);
    const value = of.map((one) => {
      const account = node.chain.account(one, slot);
      return account && accountJson(account, reader(node, slot), { encoding: 'base64', ...config });
    });
    return inContext(slot, value);
  }),
  getTokenAccountBalance: method(z.tuple([address, optional(bank)]), (node, [of, config]) => {
    const slot = bankSlot(node, config);
    const held = tokenAccount(node.chain.account(of, slot));
    return inContext(slot, uiAmount(held.amount, decimalsOf(node.chain.account(held.mint, slot))));
  }),
  getTokenSupply: method(z.tuple([address, optional(bank)]), (node, [of, config]) => {
    const slot = bankSlot(node, config);
    const mint = readMint(node.chain.account(of, slot));
    if (mint === null) throw invalidParams('Invalid param: not a Token mint');
    return inContext(slot, uiAmount(mint.supply, mint.decimals));
  }),
  getTokenAccountsByOwner: method(z.tuple([address, ownedBy, optional(accountBank)]), (node, [owner, by, config]) => {
    const slot = bankSlot(node, config);
    const programs = 'programId' in by ? [by.programId] : [TOKEN, TOKEN_2022];
    const value = programs
      .flatMap((program) => node.chain.owned(program, slot))
      .filter(([, account]) => {
        const held = readTokenAccount(account);
        return held?.owner === owner && ('programId' in by || held.mint === by.mint);
      })
      .map(([pubkey, account]) => ({ pubkey, account: accountJson(account, reader(node, slot), config) }));
    return inContext(slot, value);
  }),
  getProgramAccounts: method(
    z.tuple([
      address,
      optional(accountBank.extend({ filters: optional(z.array(filter).max(4)), withContext: optional(z.boolean()) })),
    ]),
    (node, [program, config]) => {
      const slot = bankSlot(node, config);
      const passes = ({ data }: Account): boolean =>
        (config?.filters ?? []).every((one) => {
          if ('dataSize' in one) return data.length === one.dataSize;
          const { offset, bytes } = one.memcmp;
          return Buffer.from(data.subarray(offset, offset + bytes.length)).equals(bytes);
        });
      const value = node.chain
        .owned(program, slot)
        .filter(([, account]) => passes(account))
        .map(([pubkey, account]) => ({ pubkey, account: accountJson(account, reader(node, slot), config) }));
      return config?.withContext ? inContext(slot, value) : value;
    },
  ),
};
