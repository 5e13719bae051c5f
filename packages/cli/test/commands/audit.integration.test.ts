import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeIntent } from '@pf/contracts';
import {
  type Address,
  type ChainId,
  evolve,
  type IntentEvent,
  type IntentId,
  type PaymentIntent,
  type Reference,
  type TokenAddress,
  type TransactionHash,
} from '@pf/domain';
import { events, samples } from '@pf/domain/testing';
import { type Cluster, startCluster, until } from '@pf/testing';
import { type Anvil, startAnvil } from '@pf/testing/chains';
import { evmWallet } from '@pf/testing/wallets';
import { type Pf, pfOn } from '../pf-on.ts';

const ASKED = 1_000_000n;
const DAY = 'T12:00:00Z';

describe('pf audit settlements', () => {
  let cluster: Cluster;
  let chain: Anvil;
  let pf: Pf;
  const hashes = new Map<string, string>();

  beforeAll(async () => {
    [cluster, chain] = await Promise.all([startCluster(), startAnvil({ blockMs: 200 })]);
    pf = await pfOn(cluster);
    await believe('pi_paid', await paid(ASKED));
    await believe('pi_short', await paid(1n));
    const never = { ...(await paid(ASKED)), hash: `0x${randomBytes(32).toString('hex')}` as TransactionHash };
    await believe('pi_unknown', never);
  });
  afterAll(async () => {
    await pf.close();
    await chain.stop();
    await cluster.close();
  });

  const requestor = (): Address => chain.wallets[1]?.address as Address;

  interface Paid {
    readonly hash: TransactionHash;
    readonly from: Address;
    readonly reference: Reference;
  }

  /** A payment of so many base units on the chain. */
  async function paid(amount: bigint): Promise<Paid> {
    const wallet = evmWallet(chain, chain.wallets[0] as (typeof chain.wallets)[number]);
    const to = requestor() as string as `0x${string}`;
    const reference = `0x${randomBytes(32).toString('hex')}` as const;
    const hash = await wallet.transfer(chain.tokens['USDC'] as `0x${string}`, to, amount, reference);
    await until('it to be in a block', () => chain.rpc('eth_getTransactionReceipt', hash));
    return {
      hash: hash as string as TransactionHash,
      from: wallet.address as string as Address,
      reference: reference as string as Reference,
    };
  }

  /** Stores an intent that counts as paid in full by it. */
  async function believe(id: string, { hash, from, reference }: Paid): Promise<void> {
    hashes.set(id, hash);
    const terms = { tokenAddress: chain.tokens['USDC'] as TokenAddress, reference };
    const to = requestor();
    const told = [
      events.created({ ...terms, requestor: to, chain: chain.caip2 as ChainId, amountBaseUnits: ASKED, amount: '1' }),
      events.confirmed(hash, { ...terms, from, to, amount: ASKED }),
    ];
    let intent: PaymentIntent | undefined;
    for (const [at, { type, data }] of told.entries())
      intent = evolve(intent, {
        type,
        data,
        intentId: id as IntentId,
        version: at + 1,
        at: samples.SCENARIO_START + at,
      } as IntentEvent);
    if (intent === undefined) throw new Error('nothing was told');
    await cluster.database.sql.query(
      `INSERT INTO ledger.intents (id, partition, version, account_id, livemode, status, chain, token, token_address,
        amount_base_units, requestor, direction, reference, created_at, updated_at, expires_at, state)
       VALUES ($1,0,2,$2,false,$3,$4,'USDC',$5,1,$6,'request',$7,$8,$8,$8,$9)`,
      [
        id,
        intent.accountId,
        intent.status,
        intent.chain,
        intent.tokenAddress,
        to,
        reference,
        new Date(samples.SCENARIO_START),
        encodeIntent(intent),
      ],
    );
  }

  const audit = (...args: readonly string[]): ReturnType<Pf['run']> =>
    pf.run('audit', 'settlements', '--network', 'base-sepolia', '--rpc', chain.rpcUrl, ...args);

  it('prints what does not hold on the chain and what could not be judged, and ends with 1', async () => {
    const { code, answer, errors } = await audit('--from', '2026-11-01');
    expect(answer).toMatchObject({
      settlements: 3,
      stopped: null,
      findings: [
        {
          kind: 'unpaid',
          intentId: 'pi_short',
          txSignature: hashes.get('pi_short'),
          reason: 'what it pays differs in amount (1 of 1000000 base units)',
        },
        { kind: 'unjudged', intentId: 'pi_unknown', txSignature: hashes.get('pi_unknown') },
      ],
    });
    expect(code).toBe(1);
    expect(errors).toContain('Some settlements do not hold.');
  });

  it('ends with 0 where all of the period, the account and the rest hold', async () => {
    expect(await audit('--from', '2026-11-01', '--after', 'pi_unknown')).toMatchObject({
      code: 0,
      answer: { settlements: 0, findings: [], cold: 0 },
    });
    expect(await audit('--from', `2026-11-22${DAY}`)).toMatchObject({ code: 0, answer: { settlements: 0 } });
    expect(await audit('--from', '2026-11-01', '--account', 'acc_none')).toMatchObject({ code: 0 });
  });

  it('says what it lacks', async () => {
    expect((await pf.run('audit', 'settlements', '--from', '2026-11-01')).errors).toContain('No upstream is named.');
    const noNetwork = await pf.run('audit', 'settlements', '--from', '2026-11-01', '--rpc', chain.rpcUrl);
    expect(noNetwork.errors).toContain('--rpc needs --network');
    expect((await audit()).code).toBe(2);
  });
});
