import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStore, listAttention, UnscreenedPayments } from '@pf/database';
import type { ChainId } from '@pf/domain';
import { samples } from '@pf/domain/testing';
import { createLogger } from '@pf/runtime';
import { createScreening, ListScreener, writeListFile } from '@pf/screening';
import { type Cluster, readBackingStack, startCluster, until } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { type IntentLog, openIntentLog } from './intent-log.ts';
import { Payer, request } from './payer.ts';
import { screenSenders } from '../src/sender-screening.ts';
import { observed, startWatching, type Watching } from './watching.ts';

describe('Sender of a payment that was not submitted', () => {
  const stack = readBackingStack();
  const log = createLogger('test', 'silent');
  let cluster: Cluster;
  let chain: Anvil;
  let writer: IntentLog;
  let watching: Watching;
  let payments: UnscreenedPayments;

  beforeAll(async () => {
    [cluster, chain] = await Promise.all([startCluster(stack), startAnvil({ blockMs: 200 })]);
    writer = await openIntentLog(cluster, stack.kafka);
    payments = new UnscreenedPayments(cluster.database);
    watching = await startWatching(cluster, { [chain.caip2]: chain.rpcUrl });
  });
  afterAll(async () => {
    await watching.stop();
    await writer.close();
    await chain.stop();
    await cluster.close();
  });

  const chains = (): ChainId[] => [chain.caip2 as ChainId];
  const round = (listFile: string): Promise<void> =>
    screenSenders(
      { payments, screening: createScreening([new ListScreener({ file: listFile, log })]), chains: chains(), log },
      new AbortController().signal,
    );

  it('is screened after the payment, and flagged for the operator when sanctioned', async () => {
    const [sanctioned, clean] = [new Payer(chain, 0), new Payer(chain, 1)];
    const [fromSanctioned, fromClean, submitted] = [
      await request(writer, chain),
      await request(writer, chain),
      await request(writer, chain),
    ];
    const { prepared, raw } = await sanctioned.sign(submitted);
    await createStore(cluster.database).signedTransactions.keep({
      intentId: submitted.id,
      chain: submitted.terms.chain,
      hash: prepared.hash,
      bytes: raw,
    });
    await writer.append(submitted.id, 'submission_prepared', { transaction: prepared, attempts: 1 });
    await sanctioned.send(raw);
    await observed(cluster, submitted.id, 'landed', 'confirmed');
    const hash = await sanctioned.pay(fromSanctioned);
    await clean.pay(fromClean);
    for (const { id } of [fromSanctioned, fromClean]) await observed(cluster, id, 'landed', 'confirmed');
    // What was submitted passed the screening then.
    expect((await payments.waiting(chains(), 10)).map(({ intentId }) => intentId).sort()).toEqual(
      [fromSanctioned.id, fromClean.id].sort(),
    );

    await expect(round('/nowhere')).rejects.toThrow('there is no sanctions list');
    expect(await payments.waiting(chains(), 10)).toHaveLength(2);

    const listed = { address: sanctioned.address.toLowerCase(), label: 'USDC', uid: '7', name: 'NOBODY' };
    await writeListFile(cluster.sanctionsListFile, {
      version: 1,
      source: 'test',
      publishedOn: null,
      fetchedAt: new Date().toISOString(),
      count: 1,
      addresses: [listed],
    });
    await round(cluster.sanctionsListFile);
    expect(await payments.waiting(chains(), 10)).toEqual([]);
    expect(await payments.flagged()).toMatchObject([
      {
        chain: chain.caip2,
        hash,
        sender: sanctioned.address,
        intentId: fromSanctioned.id,
        finding: { part: 'list', uid: '7', name: 'NOBODY' },
      },
    ]);
    const owner = { accountId: samples.ACCOUNT, livemode: false };
    expect(await listAttention(cluster.database, owner, ['sanctioned_sender'], null, 10)).toMatchObject([
      { chain: chain.caip2, hash, sender: sanctioned.address, intentId: fromSanctioned.id },
    ]);
    // Seen once more, it is known.
    await payments.note([
      { chain: chain.caip2 as ChainId, hash, sender: sanctioned.address, intentId: fromSanctioned.id, ...owner },
    ]);
    expect(await payments.waiting(chains(), 10)).toEqual([]);
  });

  it('is screened by the service, retrying until screening is available', async () => {
    await payments.note([
      {
        chain: chain.caip2 as ChainId,
        hash: '0x01' as never,
        sender: '0x5a9c1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b' as never,
        intentId: 'pi_x' as never,
        accountId: null,
        livemode: null,
      },
    ]);
    const listed = { address: '0x5A9C1A2b3C4D5E6f708192A3b4C5d6e7F8091a2b', label: 'ETH', uid: '8', name: 'SOMEBODY' };
    await writeListFile(cluster.sanctionsListFile, {
      version: 1,
      source: 'test',
      publishedOn: null,
      fetchedAt: '2026-01-01T00:00:00.000Z',
      count: 1,
      addresses: [listed],
    });
    const service = await cluster.start('watcher');
    await until('it to find that the list is too old', async () =>
      (await readFile(service.log, 'utf8')).includes('screening the senders of some payments failed'),
    );
    await writeListFile(cluster.sanctionsListFile, {
      version: 1,
      source: 'test',
      publishedOn: null,
      fetchedAt: new Date().toISOString(),
      count: 1,
      addresses: [listed],
    });
    await until(
      'the payment to be flagged',
      async () => (await payments.flagged()).some(({ intentId }) => intentId === 'pi_x'),
      30_000,
    );
    await until('the alarm in the log', async () =>
      (await readFile(service.log, 'utf8')).includes('sanctioned_payment'),
    );
  });
});
