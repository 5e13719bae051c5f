import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStore } from '@pf/database';
import type { Landing, TransactionHash, Transfer } from '@pf/domain';
import { LogUnavailableError, type Publisher } from '@pf/event-log';
import { type Cluster, readBackingStack, startCluster, until } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { type IntentLog, openIntentLog } from './intent-log.ts';
import { Payer, request, type Requested } from './payer.ts';
import { observationsOf, observed, startWatching, type Watching } from './watching.ts';

const LONG_AGO_MS = 60_000;

describe('NetworkWatch of Base', () => {
  const stack = readBackingStack();
  let cluster: Cluster;
  let chain: Anvil;
  let writer: IntentLog;
  let watching: Watching;
  /** While true, the log takes nothing that the watcher publishes. */
  let logAway = false;
  let refused = 0;
  const through = (publisher: Publisher): Publisher => ({
    publish: async (...record) => {
      if (logAway) {
        refused += 1;
        throw new LogUnavailableError('cut by the test');
      }
      return publisher.publish(...record);
    },
    close: () => publisher.close(),
  });

  /** Port 9, on which no process listens: a network in trouble beside the tested one. */
  const watch = (): Promise<Watching> =>
    startWatching(cluster, { 'eip155:8453': 'http://127.0.0.1:9', [chain.caip2]: chain.rpcUrl }, through);

  beforeAll(async () => {
    [cluster, chain] = await Promise.all([startCluster(stack), startAnvil({ blockMs: 200 })]);
    writer = await openIntentLog(cluster, stack.kafka);
    watching = await watch();
  });
  afterAll(async () => {
    await watching.stop();
    await writer.close();
    await chain.stop();
    await cluster.close();
  });

  const confirm = (intent: Requested, hash: TransactionHash, transfer: Transfer): Promise<unknown> =>
    writer.append(intent.id, 'intent.confirmed', {
      hash,
      fulfiller: transfer.from,
      landing: { hash, transfer } satisfies Landing,
      late: null,
      simulated: false,
    });
  async function prepare(
    intent: Requested,
    payer: Payer,
    keep: boolean,
    at = Date.now(),
  ): Promise<{ raw: Uint8Array; hash: TransactionHash }> {
    const { prepared, raw } = await payer.sign(intent);
    if (keep)
      await createStore(cluster.database).signedTransactions.keep({
        intentId: intent.id,
        chain: intent.terms.chain,
        hash: prepared.hash,
        bytes: raw,
      });
    await writer.append(intent.id, 'submission_prepared', { transaction: prepared, attempts: 1 }, at);
    return { raw, hash: prepared.hash };
  }

  it("finds a wallet's own payment by its reference, and observes it as confirmed and final", async () => {
    const intent = await request(writer, chain);
    const payer = new Payer(chain, 0);
    const hash = await payer.pay(intent);
    const confirmed = await observed(cluster, intent.id, 'landed', 'confirmed');
    expect(confirmed.data).toMatchObject({
      hash,
      transfer: {
        from: payer.address,
        to: intent.terms.requestor,
        amount: intent.terms.amount,
        reference: intent.terms.reference,
      },
    });
    await confirm(intent, hash, confirmed.data.transfer);
    await observed(cluster, intent.id, 'landed', 'finalized');
    expect((await observationsOf(cluster, intent.id)).map(({ trace }) => trace)).not.toContainEqual({
      requestId: expect.anything(),
    });
  });

  it('stores the bytes of a payment that was not submitted until it is final', async () => {
    const intent = await request(writer, chain);
    const hash = await new Payer(chain, 1).pay(intent);
    const { data } = await observed(cluster, intent.id, 'landed', 'confirmed');
    await confirm(intent, hash, data.transfer);
    await until('the bytes to be kept', async () =>
      (await createStore(cluster.database).signedTransactions.find(intent.terms.chain, [hash])).has(hash),
    );
  });

  it('observes the revert of a submitted transaction', async () => {
    const intent = await request(writer, chain, 10n ** 15n);
    const payer = new Payer(chain, 2);
    const { raw, hash } = await prepare(intent, payer, true);
    await payer.send(raw);
    expect((await observed(cluster, intent.id, 'reverted')).data.hash).toBe(hash);
  });

  it('observes a transaction as dropped once its nonce is used, and not before', async () => {
    const intent = await request(writer, chain);
    const payer = new Payer(chain, 3);
    const { hash } = await prepare(intent, payer, false);
    const [other, otherPayer] = [await request(writer, chain), new Payer(chain, 4)];
    await otherPayer.pay(other);
    await observed(cluster, other.id, 'landed', 'confirmed');
    expect(await observationsOf(cluster, intent.id)).toEqual([]);

    await payer.burnNonce();
    expect((await observed(cluster, intent.id, 'dropped', undefined, 60_000)).data.hash).toBe(hash);
  });

  it('broadcasts a prepared transaction that was never sent, and finds it on chain', async () => {
    const intent = await request(writer, chain);
    const { hash } = await prepare(intent, new Payer(chain, 5), true, Date.now() - LONG_AGO_MS);
    expect((await observed(cluster, intent.id, 'landed', 'confirmed')).data.hash).toBe(hash);
  });

  it('broadcasts a transaction again after a reorg, and finds it in its new block', async () => {
    const intent = await request(writer, chain);
    const payer = new Payer(chain, 6);
    const { raw, hash } = await prepare(intent, payer, true);
    await payer.send(raw);
    const first = await observed(cluster, intent.id, 'landed', 'confirmed');
    await confirm(intent, hash, first.data.transfer);
    const { block, blockHash } = first.data.transfer;
    await until('its block to be replaced', async () => {
      // Some blocks more: the head moves on until the chain does it, and on a busy machine by more than these.
      const depth = BigInt(await chain.rpc<string>('eth_blockNumber')) - block + 3n;
      await chain.rpc('anvil_reorg', Number(depth), []);
      const now = await chain.rpc<{ hash: string } | null>('eth_getBlockByNumber', `0x${block.toString(16)}`, false);
      return now?.hash !== blockHash;
    });
    await observed(cluster, intent.id, 'lost');
    await writer.append(intent.id, 'confirmation_lost', { hash });
    const lostAt = performance.now();
    const again = await until(
      'it to land again',
      async () =>
        (await observationsOf(cluster, intent.id)).find(
          (one) => one.type === 'landed' && one.data.transfer.blockHash !== first.data.transfer.blockHash,
        ),
      30_000,
    );
    expect(again.data.hash).toBe(hash);
    // At once, and not when the next turn of the transaction that was live a moment ago would have come.
    expect(performance.now() - lostAt).toBeLessThan(12_000);
  });

  it('loses no observation when the log becomes unavailable before the publish and the watcher then ends', async () => {
    const intent = await request(writer, chain);
    logAway = true;
    await new Payer(chain, 7).pay(intent);
    await until('several tries to publish', () => refused > 2);
    await watching.stop();
    logAway = false;
    expect(await observationsOf(cluster, intent.id)).toEqual([]);
    watching = await watch();
    await observed(cluster, intent.id, 'landed', 'confirmed');
  });

  it('finds the payment of an intent that ended long ago, and follows it until it is final', async () => {
    const [paid, submitted] = [await request(writer, chain), await request(writer, chain)];
    const ended = { pendingAtExpiry: false, simulated: false };
    const hourAgo = Date.now() - 3_600_000;
    for (const { id } of [paid, submitted]) {
      await writer.append(id, 'intent.expired', ended, hourAgo);
      await writer.project(id);
    }
    // They are loaded as intents at rest.
    await watching.stop();
    watching = await watch();
    const payer = new Payer(chain, 8);
    const hash = await payer.pay(paid);
    const { data } = await observed(cluster, paid.id, 'landed', 'confirmed');
    expect(data).toMatchObject({ hash, transfer: { from: payer.address, to: paid.terms.requestor } });
    await confirm(paid, hash, data.transfer);
    await observed(cluster, paid.id, 'landed', 'finalized');

    // What happens to one at rest is followed, also where no payment has named it.
    const transfer = {
      ...data.transfer,
      block: 1n,
      blockHash: `0x${'11'.repeat(32)}`,
      reference: submitted.terms.reference,
    };
    await confirm(submitted, `0x${'22'.repeat(32)}` as TransactionHash, transfer);
    await observed(cluster, submitted.id, 'lost');
  });

  it('is not delayed by a network in trouble, and reports which one it is', async () => {
    const [live, test] = [...watching.watches.values()];
    await until('the failure to be told', () => live?.status.problem?.includes('No RPC upstream of base responds'));
    await until('the other to watch', () => test?.status.role === 'active' && test.status.problem === null);
  });
});
