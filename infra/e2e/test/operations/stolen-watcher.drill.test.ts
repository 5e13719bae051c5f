import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  encodeObservation,
  type ObservationAuthor,
  observationKey,
  type ObservationMessage,
  parseDeadLetter,
  partitionOf,
} from '@pf/contracts';
import type { Address, ChainId, IntentId, Reference, TokenAddress, TransactionHash } from '@pf/domain';
import { deposits } from '@pf/domain/testing';
import type { Publisher } from '@pf/event-log';
import { type ApiClient, apiClient, type Cluster, readBackingStack, startCluster, until } from '@pf/testing';
import { newWallet } from '@pf/testing/wallets';

const BASE = 'eip155:84532' as ChainId;
const TRACE = { traceparent: null, requestId: null };

/** It has the watchers' user of Kafka, which all of them share, and the key of Base alone. */
describe('whoever has the watcher of one network', () => {
  const stack = readBackingStack();
  const solana = stack.chains['solana'];
  if (!solana) throw new Error('the stack has no Solana');
  const chain = solana.caip2 as ChainId;
  let cluster: Cluster;
  let client: ApiClient;
  let publisher: Publisher;
  beforeAll(async () => {
    cluster = await startCluster(stack);
    const [gateway] = await Promise.all([cluster.start('gateway'), cluster.start('intent')]);
    client = apiClient(`${gateway.url}/v1`, cluster.apiKeys.test);
    publisher = await cluster.log.publisher();
  });
  afterAll(async () => {
    await publisher.close();
    await cluster.close();
  });

  const keyOf = (author: ObservationAuthor): Buffer => observationKey(cluster.observationSecret, author);
  const write = (message: ObservationMessage, key: Buffer | null): Promise<void> => {
    const { intentId } = message;
    const value = encodeObservation(message, key);
    return publisher.publish('chain.observations', { partition: partitionOf(intentId), key: intentId, value });
  };
  const reasonsFor = async (id: IntentId): Promise<readonly string[]> => {
    const reader = await cluster.log.reader('dead');
    const partition = partitionOf(id);
    const reasons: string[] = [];
    const end = await reader.endOffset('intent.dead', partition);
    for await (const { records } of reader.read('intent.dead', partition, 0n, end))
      for (const { value } of records) {
        const { intentId, reason } = parseDeadLetter(value ?? '');
        if (intentId === id) reasons.push(reason);
      }
    await reader.close();
    return reasons;
  };

  it('confirms nothing of another network, and no deposit of it for an intent', async () => {
    const requestor = newWallet(solana).address;
    const { body } = await client.create({ chain, token: 'USDC', amount: '5', requestor });
    const id = body.intent.id;
    const hash = '5'.repeat(88) as TransactionHash;
    const transfer = {
      tokenAddress: solana.tokens['USDC'] as TokenAddress,
      from: newWallet(solana).address as Address,
      to: requestor as Address,
      amount: 5_000_000n,
      block: 1n,
      blockHash: null,
      index: '0',
    };
    const landed: ObservationMessage = {
      kind: 'observation',
      type: 'landed',
      intentId: id,
      data: { hash, level: 'finalized', transfer: { ...transfer, reference: body.intent.reference as Reference } },
      trace: TRACE,
    };
    const assigned: ObservationMessage = {
      kind: 'observation',
      type: 'assigned',
      intentId: id,
      data: { hash, depositId: deposits.DEPOSIT, version: 1, standing: 'finalized', transfer },
      trace: TRACE,
    };
    await write(landed, null);
    await write({ ...landed, chain }, null);
    await write({ ...landed, chain }, keyOf(BASE));
    await write({ ...landed, chain: BASE }, keyOf(BASE));
    await write({ ...assigned, chain: BASE }, keyOf(BASE));
    await until('all to be refused', async () => (await reasonsFor(id)).length === 5);
    expect(await reasonsFor(id)).toEqual([
      expect.stringMatching(/^it is not signed: /),
      expect.stringMatching(/^it is not signed: /),
      expect.stringMatching(/^it is not signed by the watcher of solana:/),
      expect.stringMatching(/^the intent is on solana:.* and the watcher of eip155:84532 has no say in it/),
      expect.stringMatching(/^it is not signed by the intent service/),
    ]);
    expect((await client.get(id)).body.intent.state).toBe('created');
    expect((await client.events(id)).body.events.map(({ type }) => type)).toEqual(['intent.created']);

    // What was refused would have been believed of the watcher of its network.
    await write({ ...landed, chain }, keyOf(chain));
    await until('the payment', async () => (await client.get(id)).body.intent.state === 'finalized');
  });
});
