import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Address,
  address,
  lamports as toLamports,
  airdropFactory,
  sendAndConfirmTransactionFactory,
} from '@solana/kit';
import { type Client, lamports, newAddress, payment, startClient, tokenAccount, wallet } from './client.ts';

describe('a payment on the local Solana', () => {
  let client: Client;
  beforeAll(async () => {
    client = await startClient();
  });
  afterAll(() => client.stop());

  it.each(['USDC', 'PYUSD'] as const)(
    '%s lands with the account it needs, and its reference finds it',
    async (symbol) => {
      const [payer, owner, reference] = [await wallet(0), await newAddress(), await newAddress()];
      const signed = await client.sign(payer, await payment(payer, owner, symbol, 1_250_000n, { reference }));
      expect(await client.send(signed)).toBe(signed.signature);
      const [processed] = (await client.rpc.getSignatureStatuses([signed.signature]).send()).value;
      expect(processed).toMatchObject({ confirmations: 0n, confirmationStatus: 'processed', err: null });
      expect(await client.rpc.getSignaturesForAddress(reference, { commitment: 'confirmed' }).send()).toEqual([]);

      await client.call('local_advance');
      expect(await client.rpc.getSignaturesForAddress(reference, { commitment: 'confirmed' }).send()).toMatchObject([
        {
          signature: signed.signature,
          err: null,
          memo: '[8] order 17',
          confirmationStatus: 'confirmed',
          slot: processed?.slot,
        },
      ]);
      const { value } = await client.rpc
        .getTokenAccountBalance(await tokenAccount(owner, symbol), { commitment: 'confirmed' })
        .send();
      expect(value).toEqual({ amount: '1250000', decimals: 6, uiAmount: 1.25, uiAmountString: '1.25' });
    },
  );

  it('is returned with all its effects, in each encoding', async () => {
    const [payer, owner] = [await wallet(1), await newAddress()];
    const signed = await client.sign(payer, await payment(payer, owner, 'USDC', 5_000_000n));
    await client.send(signed);
    await client.call('local_advance');
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    const base64 = await client.rpc.getTransaction(signed.signature, { ...options, encoding: 'base64' }).send();
    expect(base64?.transaction[0]).toBe(signed.wire);

    const json = await client.rpc.getTransaction(signed.signature, { ...options, encoding: 'json' }).send();
    const keys = json?.transaction.message.accountKeys ?? [];
    const [from, to] = [
      keys.indexOf(await tokenAccount(payer.address, 'USDC')),
      keys.indexOf(await tokenAccount(owner, 'USDC')),
    ];
    const { meta } = json ?? {};
    expect(meta).toMatchObject({
      err: null,
      fee: 5_000n,
      loadedAddresses: { readonly: [], writable: [] },
      preTokenBalances: [{ accountIndex: from }],
    });
    const rent = await client.rpc.getMinimumBalanceForRentExemption(165n).send();
    expect((meta?.preBalances[0] ?? 0n) - (meta?.postBalances[0] ?? 0n)).toBe(5_000n + rent);
    expect(meta?.postTokenBalances).toContainEqual(
      expect.objectContaining({
        accountIndex: to,
        owner,
        uiTokenAmount: { amount: '5000000', decimals: 6, uiAmount: 5, uiAmountString: '5' },
      }),
    );
    expect(meta?.computeUnitsConsumed).toBeGreaterThan(1_000n);
    expect(meta?.innerInstructions).toMatchObject([
      { index: 0, instructions: [{ stackHeight: 2 }, { stackHeight: 2 }, { stackHeight: 2 }, { stackHeight: 2 }] },
    ]);

    const parsed = await client.rpc.getTransaction(signed.signature, { ...options, encoding: 'jsonParsed' }).send();
    expect(parsed?.transaction.message.instructions).toMatchObject([
      { program: 'spl-associated-token-account', parsed: { type: 'createIdempotent', info: { wallet: owner } } },
      { program: 'spl-memo', parsed: 'order 17' },
      {
        program: 'spl-token',
        parsed: {
          type: 'transferChecked',
          info: {
            authority: payer.address,
            destination: await tokenAccount(owner, 'USDC'),
            tokenAmount: { amount: '5000000' },
          },
        },
      },
    ]);
    expect(parsed?.transaction.message.accountKeys[0]).toMatchObject({
      pubkey: payer.address,
      signer: true,
      writable: true,
      source: 'transaction',
    });
  });

  it('costs the fee that the runtime charges, priority fee included', async () => {
    const payer = await wallet(2);
    const price = Uint8Array.of(3, 0x41, 0x42, 0x0f, 0, 0, 0, 0, 0);
    const limit = Uint8Array.of(2, 0x39, 0x30, 0, 0);
    const budget = 'ComputeBudget111111111111111111111111111111' as Address;
    for (const instructions of [[price, limit], [price]].map((datas) =>
      datas.map((data) => ({ programAddress: budget, data })),
    )) {
      const before = (await client.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value;
      const signed = await client.sign(payer, [...instructions, lamports(payer, await newAddress(), 1_000_000n)]);
      const message = Buffer.from(signed.transaction.messageBytes).toString('base64');
      const told = await client.call('getFeeForMessage', message, { commitment: 'processed' });
      await client.send(signed);
      const after = (await client.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value;
      expect(told).toMatchObject({ result: { value: Number(before - after) - 1_000_000 } });
      const fees = await client.rpc.getRecentPrioritizationFees([payer.address]).send();
      expect(fees.at(-1)).toMatchObject({ prioritizationFee: 1_000_001n });
      await client.call('local_advance');
    }
  });

  it('has version "legacy" when its transaction is a legacy one', async () => {
    const payer = await wallet(3);
    const signed = await client.sign(payer, await payment(payer, await newAddress(), 'USDC', 1n), {
      version: 'legacy',
    });
    await client.send(signed);
    await client.call('local_advance');
    expect(
      await client.rpc
        .getTransaction(signed.signature, {
          commitment: 'confirmed',
          encoding: 'json',
          maxSupportedTransactionVersion: 0,
        })
        .send(),
    ).toMatchObject({ version: 'legacy' });
  });

  it('is confirmed and finalized on a running chain, as the usual flow of kit sees it', async () => {
    const running = await startClient({ paused: false, slotMs: 100, finalitySlots: 3 });
    try {
      const { rpc, subscriptions: rpcSubscriptions } = running;
      const [payer, poor] = [await wallet(0), await newAddress()];
      await airdropFactory({ rpc, rpcSubscriptions })({
        commitment: 'finalized',
        lamports: toLamports(2_000_000_000n),
        recipientAddress: poor,
      });
      expect((await rpc.getBalance(poor).send()).value).toBe(2_000_000_000n);
      const confirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions });
      for (const commitment of ['confirmed', 'finalized'] as const) {
        const { transaction, signature } = await running.sign(
          payer,
          await payment(payer, poor, 'PYUSD', 7n, { memo: commitment }),
        );
        await confirm(transaction, { commitment });
        expect((await rpc.getBalance(poor, { commitment }).send()).value).toBe(2_000_000_000n);
        const [status] = (await rpc.getSignatureStatuses([signature]).send()).value;
        expect([commitment, 'finalized']).toContain(status?.confirmationStatus);
      }
    } finally {
      await running.stop();
    }
  });

  it('uses wallets and mints at their documented addresses', async () => {
    const { value } = await client.rpc
      .getTokenAccountsByOwner(
        address((await wallet(7)).address),
        { mint: address('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU') },
        { encoding: 'jsonParsed', commitment: 'confirmed' },
      )
      .send();
    expect(value).toMatchObject([
      {
        account: {
          data: {
            program: 'spl-token',
            parsed: { type: 'account', info: { tokenAmount: { amount: '1000000000000' }, state: 'initialized' } },
          },
        },
      },
    ]);
    expect((await client.rpc.getGenesisHash().send()).slice(0, 32)).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1');
    const mint = await client.rpc
      .getAccountInfo(address('CXk2AMBfi3TwaEL2468s6zP8xq9NxTXjp9gjMgzeUynM'), { encoding: 'jsonParsed' })
      .send();
    expect(mint.value).toMatchObject({
      data: { program: 'spl-token-2022', parsed: { type: 'mint', info: { decimals: 6, isInitialized: true } } },
    });
  });
});
