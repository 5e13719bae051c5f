import { describe, expect, it } from '@jest/globals';
import type { IntentId, Observation, TransactionHash } from '@pf/domain';
import type { RpcCall, RpcNode, RpcPool } from '@pf/rpc';
import { findLapsed } from '../../../src/base/observe/lapsed.ts';
import { Memory } from '../../../src/base/observe/memory.ts';
import { Unreadable } from '../../../src/evm/observe/read-each.ts';
import { PARTIES_MAX } from '../../../src/set-aside.ts';
import { named, Watched } from '../../conformance/watching.ts';
import { respondingNode } from '../../nodes.ts';
import { fulfiller, terms } from '../payments.ts';

const HASH = `0x${'ab'.repeat(32)}` as TransactionHash;
const ID = 'pi_1' as IntentId;
const VALID_BEFORE = 1_000n;
const NUMBER = 50n;

/** What a node says of the safe block, and of the nonce at that block. */
interface Says {
  readonly hash?: string;
  readonly timestamp?: bigint;
  readonly isUsed?: boolean;
  /** The transactions that have used the authorization, by the token's log; an error where it shows none. */
  readonly users?: readonly TransactionHash[] | Error;
}
const safe = ({ hash = '0x5afe', timestamp = VALID_BEFORE - 1n }: Says) => ({
  number: NUMBER,
  hash,
  parentHash: '0x00',
  timestamp,
  baseFeePerGas: 0n,
});
function nodeThat(says: Says): RpcNode {
  const respond = ({ method }: RpcCall<unknown>): unknown => {
    if (method === 'eth_call') return `0x${(says.isUsed === true ? '1' : '0').padStart(64, '0')}`;
    if (method !== 'eth_getLogs') return safe(says);
    const { users = new Error('no logs') } = says;
    return users instanceof Error ? new Unreadable(users.message) : users.map((hash) => ({ transactionHash: hash }));
  };
  return respondingNode(respond);
}

type Unread = Parameters<typeof findLapsed>[4][number];
/** What is concluded by a step on the first of these nodes. */
async function concluded(
  nodes: readonly [Says, ...Says[]],
  { rescanned = NUMBER, waiting = [] as IntentId[], conclusive = true, unread = [] as Unread[] } = {},
): Promise<readonly Observation[]> {
  const watched = new Watched();
  watched.add(ID, terms);
  const lifetime = { kind: 'time', validBefore: VALID_BEFORE } as const;
  watched.submit({ hash: HASH, sender: fulfiller, nonce: terms.reference, lifetime, terms }, 0);
  const pool: Pick<RpcPool, 'onAll'> = {
    onAll: async (work) => ({ responses: await Promise.all(nodes.map((one) => work(nodeThat(one)))), conclusive }),
  };
  const context = {
    pool: pool as RpcPool,
    node: nodeThat(nodes[0]),
    watch: watched,
    memory: new Memory(),
    now: 0,
  };
  return findLapsed(context, safe(nodes[0]), rescanned, new Set(waiting), unread);
}
const OVER: Says = { timestamp: VALID_BEFORE };
const USED: Says = { isUsed: true };

describe('a live authorization', () => {
  it.each([
    ['its time is over at a safe block', OVER],
    ['its nonce is used at a safe block', USED],
  ])('is dropped when %s', async (_why, says) => {
    expect(await concluded([says, says])).toMatchObject([{ type: 'dropped', intentId: ID, data: { hash: HASH } }]);
  });

  it('is not dropped a second before its time, while its nonce is unused', async () => {
    expect(named(await concluded([{}, {}]))).toEqual([]);
  });

  it.each([
    ['another block', OVER, { ...OVER, hash: '0x07e2' }],
    ['an earlier time', OVER, {}],
    ['an unused nonce', USED, {}],
  ])('is not dropped on the word of one upstream: another has %s', async (_what, one, other) => {
    expect(named(await concluded([one, other]))).toEqual([]);
  });

  it('is not dropped while an upstream that was configured does not respond', async () => {
    expect(named(await concluded([OVER], { conclusive: false }))).toEqual([]);
  });

  it('is not dropped before every transfer up to the safe block was read a second time', async () => {
    expect(named(await concluded([OVER], { rescanned: NUMBER - 1n }))).toEqual([]);
  });

  it('is not dropped while something that was seen of its intent waits to be reported', async () => {
    expect(named(await concluded([OVER], { waiting: [ID] }))).toEqual([]);
  });

  describe('beside a transaction that could not be read', () => {
    const UNREAD = `0x${'0c'.repeat(32)}` as TransactionHash;
    const own: Unread = { hash: UNREAD, place: NUMBER, recipient: terms.requestor, payer: fulfiller };
    const { payer, recipient } = { payer: terms.requestor, recipient: fulfiller };
    const dust = { ...own, payer, recipient };
    const others = [{ recipient: terms.requestor, payer: fulfiller }];
    const many = Array.from({ length: PARTIES_MAX - 1 }, () => ({ recipient, payer }));
    const used = (...users: readonly TransactionHash[]): Says => ({ ...USED, users });
    it.each<[string, Says, Unread, number]>([
      ['is not dropped while that may have used it', USED, own, 0],
      ['is not dropped while that may have used it, also when its time is over', { ...OVER, ...USED }, own, 0],
      ['is dropped when its time is over and it is unused', OVER, own, 1],
      ['is not held up by a transfer of another payer', USED, { ...own, payer }, 1],
      ['is not held up by a transfer to another recipient', USED, { ...own, recipient }, 1],
      ['is not dropped where its transfer comes behind those of others', USED, { ...dust, others }, 0],
      ['is not dropped where it has more transfers than are kept', USED, { ...dust, others: many }, 0],
      ['is not held up by what came after the safe block', USED, { ...own, place: NUMBER + 1n }, 1],
      ['is dropped where the logs of the token say that it was not used there', used(), own, 1],
      ['is not dropped where the logs of the token say that it was', used(UNREAD), own, 0],
    ])('is judged by what the token says: it %s', async (_what, says, unread, dropped) => {
      expect(await concluded([says, says], { unread: [unread] })).toHaveLength(dropped);
    });

    it.each<[string, Says]>([
      ['shows that use', used(UNREAD)],
      ['cannot show those logs', USED],
    ])('is not dropped on the word of one upstream: another %s', async (_what, says) => {
      expect(await concluded([used(), says], { unread: [own] })).toEqual([]);
    });
  });
});
