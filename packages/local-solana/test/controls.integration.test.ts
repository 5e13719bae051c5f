import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Address } from '@solana/kit';
import {
  type Client,
  lamports,
  newAddress,
  payment,
  type Signed,
  startClient,
  tokenAccount,
  wallet,
} from './client.ts';
import { tokens } from '../src/index.ts';

describe('controls of the local Solana', () => {
  let client: Client;
  beforeEach(async () => {
    client = await startClient();
  });
  afterEach(() => client.stop());

  async function pay(amount: bigint, from = 0): Promise<Signed> {
    const payer = await wallet(from);
    const signed = await client.sign(payer, await payment(payer, (await wallet(7)).address, 'USDC', amount));
    await client.send(signed);
    return signed;
  }
  const statusOf = async ({
    signature,
  }: Signed): Promise<{ err: unknown; slot: bigint; confirmationStatus: string | null } | null | undefined> =>
    (await client.rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()).value[0];
  const units = async (
    owner: Address,
    commitment: 'processed' | 'confirmed' | 'finalized' = 'processed',
  ): Promise<bigint> =>
    BigInt(
      (await client.rpc.getTokenAccountBalance(await tokenAccount(owner, 'USDC'), { commitment }).send()).value.amount,
    );

  it('drop the next transaction, those of a payer or one signature, even when resent', async () => {
    await client.call('local_drop');
    expect(await statusOf(await pay(1n))).toBeNull();
    expect(await statusOf(await pay(2n))).toMatchObject({ err: null });

    const { address } = await wallet(1);
    await client.call('local_drop', { payer: address });
    expect(await statusOf(await pay(3n, 1))).toBeNull();
    expect(await statusOf(await pay(4n, 1))).toBeNull();
    expect(await statusOf(await pay(5n, 2))).toMatchObject({ err: null });
    await client.call('local_heal');
    expect(await statusOf(await pay(6n, 1))).toMatchObject({ err: null });

    const payer = await wallet(3);
    const signed = await client.sign(payer, [lamports(payer, (await wallet(7)).address, 5n)]);
    await client.call('local_drop', { signature: signed.signature });
    await client.send(signed);
    await client.send(signed);
    expect(await statusOf(signed)).toBeNull();
    await client.call('local_heal');
    await client.send(signed);
    expect(await statusOf(signed)).toMatchObject({ err: null });
  });

  it('fail a transaction on chain although its simulation passed: it costs the fee and moves no tokens', async () => {
    const { address } = await wallet(0);
    const before = await units(address);
    await client.call('local_fail', { payer: address, count: 1 });
    const failed = await pay(1_000n);
    expect(await statusOf(failed)).toMatchObject({ err: { InstructionError: [2n, { Custom: 17n }] } });
    expect(await units(address)).toBe(before);
    expect((await client.rpc.getBalance(address, { commitment: 'processed' }).send()).value).toBe(
      1_000_000_000_000n - 5_000n,
    );
    await client.call('local_advance');
    const told = await client.rpc
      .getTransaction(failed.signature, {
        commitment: 'confirmed',
        encoding: 'json',
        maxSupportedTransactionVersion: 0,
      })
      .send();
    expect(told?.meta).toMatchObject({
      err: { InstructionError: [2n, { Custom: 17n }] },
      fee: 5_000n,
      logMessages: expect.arrayContaining([expect.stringContaining('frozen')]),
    });
    expect(
      await client.rpc.getSignaturesForAddress(address, { commitment: 'confirmed', limit: 1 }).send(),
    ).toMatchObject([{ signature: failed.signature, err: { InstructionError: [2n, { Custom: 17n }] } }]);
    expect(await statusOf(await pay(1_001n))).toMatchObject({ err: null });
    expect(await units(address)).toBe(before - 1_001n);
  });

  it('report which transaction met which fault, disarm a fault, and spare the node’s own payouts', async () => {
    const { address } = await wallet(1);
    const { result: unwanted } = await client.call('local_drop', { payer: address });
    const { result: id } = await client.call('local_drop', { mentions: tokens.USDC });
    expect(id).not.toBe(unwanted);
    await client.call('local_disarm', unwanted);
    await client.call('local_mint', address, 'USDC', 1);
    expect((await client.call('local_faults')).result).toEqual({
      pending: [{ id, kind: 'drop', target: { mentions: tokens.USDC }, left: 1 }],
      struck: [],
    });
    const dropped = await pay(1n, 1);
    expect((await client.call('local_faults')).result).toEqual({
      pending: [],
      struck: [{ id, signature: dropped.signature, payer: address, memo: 'order 17' }],
    });
    expect(await statusOf(dropped)).toBeNull();
  });

  it('pause the clock when a transaction is confirmed and not yet finalized', async () => {
    const running = await startClient({ paused: false, slotMs: 10, finalitySlots: 1_000 });
    try {
      await running.call('local_hold');
      const payer = await wallet(1);
      const signed = await running.sign(payer, await payment(payer, (await wallet(7)).address, 'USDC', 1n));
      await running.send(signed);
      const [status] = (await running.rpc.getSignatureStatuses([signed.signature]).send()).value;
      expect(status).toMatchObject({ err: null, confirmationStatus: 'confirmed' });
      const stood = (await running.call('local_clock')).result;
      expect(stood).toMatchObject({ running: false });
      expect((await running.call('local_clock')).result).toEqual(stood);
    } finally {
      await running.stop();
    }
  });

  it('fail a transfer of lamports too', async () => {
    const payer = await wallet(4);
    await client.call('local_fail');
    const signed = await client.sign(payer, [lamports(payer, await newAddress(), 1_000_000_000n)]);
    await client.send(signed);
    expect(await statusOf(signed)).toMatchObject({ err: { InstructionError: [0n, { Custom: 1n }] } });
    expect((await client.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value).toBe(
      1_000_000_000_000n - 5_000n,
    );
  });

  it('let each commitment read its own state', async () => {
    const { address } = await wallet(0);
    await pay(10n);
    const seen = async (): Promise<bigint[]> =>
      Promise.all(
        (['processed', 'confirmed', 'finalized'] as const).map(
          async (commitment) => 1_000_000_000_000n - (await units(address, commitment)),
        ),
      );
    expect(await seen()).toEqual([10n, 0n, 0n]);
    await client.call('local_advance');
    await pay(5n);
    expect(await seen()).toEqual([15n, 10n, 0n]);
    await client.call('local_advance', 3);
    expect(await seen()).toEqual([15n, 15n, 10n]);
    await client.call('local_finalize');
    expect(await seen()).toEqual([15n, 15n, 15n]);
  });

  it('delay a transaction until its slot; it is dropped if its blockhash expires first', async () => {
    await client.call('local_delay', 3, { count: 1 });
    const late = await pay(1n);
    await client.call('local_advance', 2);
    await client.send(late);
    expect(await statusOf(late)).toBeNull();
    const head = await client.rpc.getSlot({ commitment: 'processed' }).send();
    await client.call('local_advance', 5);
    expect(await statusOf(late)).toMatchObject({ slot: head + 1n });
    await client.call('local_delay', 152);
    const tooLate = await pay(2n);
    await client.call('local_advance', 200);
    expect(await statusOf(tooLate)).toBeNull();
  });

  it('roll back blocks that are not finalized, with their transactions unless they are to land again', async () => {
    const { address } = await wallet(0);
    const kept = await pay(1n);
    await client.call('local_finalize');
    const { blockhash } = (await client.rpc.getLatestBlockhash({ commitment: 'processed' }).send()).value;
    const lost = await pay(2n);
    await client.call('local_advance');
    expect((await client.call('local_reorg', 2)).result).toEqual([lost.signature]);
    expect(await statusOf(kept)).toMatchObject({ confirmationStatus: 'finalized' });
    expect(await statusOf(lost)).toBeNull();
    expect(await units(address)).toBe(1_000_000_000_000n - 1n);
    expect(await client.rpc.isBlockhashValid(blockhash, { commitment: 'processed' }).send()).toMatchObject({
      value: false,
    });
    expect(await client.call('local_reorg', 3)).toMatchObject({
      error: { code: -32602, message: expect.stringContaining('final') },
    });

    const moved = await pay(3n);
    const { slot: first } = (await statusOf(moved)) ?? {};
    await client.call('local_advance');
    await client.call('local_reorg', 1, { requeue: true });
    expect(await statusOf(moved)).toMatchObject({ err: null, slot: first });
    expect(await units(address)).toBe(1_000_000_000_000n - 4n);
  });

  it('mint tokens and lamports to any address', async () => {
    const owner = await newAddress();
    for (const token of ['USDC', tokens.PYUSD])
      expect(await client.call('local_mint', owner, token, '18000000000000000000')).toMatchObject({
        result: expect.any(String),
      });
    expect(await units(owner)).toBe(18_000_000_000_000_000_000n);
    expect(await client.call('local_mint', owner, owner, 1)).toMatchObject({ error: { code: -32602 } });
    for (const amount of [1_000_000_000, '1000000000'])
      expect(await client.call('requestAirdrop', owner, amount)).toMatchObject({ result: expect.any(String) });
    expect((await client.rpc.getBalance(owner, { commitment: 'processed' }).send()).value).toBe(2_000_000_000n);
  });

  it('page through the transactions of an address, newest first', async () => {
    const sent: string[] = [];
    for (const amount of [1n, 2n, 3n, 4n, 5n]) sent.unshift((await pay(amount, 5)).signature);
    await client.call('local_advance');
    const { address } = await wallet(5);
    const page = async (config: object): Promise<unknown[]> => {
      const { result } = await client.call('getSignaturesForAddress', address, { commitment: 'confirmed', ...config });
      return (result as { signature: string }[]).map(({ signature }) => signature);
    };
    expect((await page({})).slice(0, 5)).toEqual(sent);
    expect(await page({ limit: 2 })).toEqual(sent.slice(0, 2));
    expect(await page({ limit: 2, before: sent[1] })).toEqual(sent.slice(2, 4));
    expect(await page({ until: sent[3] })).toEqual(sent.slice(0, 3));
    expect(await page({ before: sent[0], until: sent[4] })).toEqual(sent.slice(1, 4));
  });

  it('stop the clock and resume it from there', async () => {
    const running = await startClient({ paused: false, slotMs: 10 });
    try {
      const slot = async (): Promise<bigint> => running.rpc.getSlot({ commitment: 'processed' }).send();
      const first = await slot();
      while ((await slot()) === first);
      expect((await running.call('local_pause')).result).toMatchObject({ running: false });
      const stood = await slot();
      expect(await slot()).toBe(stood);
      await running.call('local_resume');
      while ((await slot()) === stood);
    } finally {
      await running.stop();
    }
  });
});
