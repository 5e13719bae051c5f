import { describe, expect, it } from '@jest/globals';
import type { ChainAdapter } from '@pf/chains';
import { newIntentId } from '@pf/contracts';
import { events, type ExpectedEvent, given, samples } from '@pf/domain/testing';
import { ApiError } from '../../src/api-error.ts';
import type { Call } from '../../src/endpoint.ts';
import { buildIntent } from '../../src/intents/build.ts';

const EXPIRES_AT = Date.parse('2026-11-27T12:00:30.000Z');

/** What is asked, in order, by a build of an intent for which Bob has built before, and what is returned. */
async function build(
  { refused = null, isReusable = true }: { readonly refused?: string | null; readonly isReusable?: boolean },
  ...history: readonly ExpectedEvent[]
): Promise<{ readonly order: readonly string[]; readonly built: unknown }> {
  const [intent] = given(events.created(), events.built(), ...history).ledger.intents();
  const order: string[] = [];
  const admit = (what: string) => async (): Promise<void> => {
    order.push(what);
    if (what === refused) throw new ApiError('intent.too_many_builds');
  };
  const adapter = {
    isReusable: async () => {
      order.push('the chain');
      return isReusable;
    },
    build: async () => {
      order.push('a build');
      return { kind: 'rejected', reason: 'enough for this test' };
    },
    expiryOf: () => ({ expiresAt: EXPIRES_AT, lastValidBlockHeight: 1_150n }),
  } as unknown as ChainAdapter;
  const dependencies = {
    adapters: new Map([[samples.BASE_SEPOLIA, adapter]]),
    intents: { findIntent: async () => intent },
    limiter: { admitBuild: admit('a new build'), admitRepeatedBuild: admit('a repeated build') },
    partitions: 6,
  };
  const call = {
    holder: { accountId: samples.ACCOUNT, livemode: false, scope: 'client_secret' },
    // Without a body: the payer is the one who has built.
    request: { headers: {}, params: { id: newIntentId(0) } },
    response: {},
  } as unknown as Call;
  const answer = await buildIntent(dependencies as unknown as Parameters<typeof buildIntent>[0])
    .handle(call)
    .catch(({ code }: ApiError) => code);
  const built = typeof answer === 'string' ? answer : (answer?.body as { transaction: unknown }).transaction;
  return { order: [...order, typeof answer === 'string' ? answer : 'built'], built };
}
async function asked(refused: string | null, ...history: readonly ExpectedEvent[]): Promise<readonly string[]> {
  return (await build({ refused }, ...history)).order;
}

describe('POST /intents/{id}/build, asked again', () => {
  it('is counted before the chain is asked', async () => {
    expect(await asked(null)).toEqual(['a repeated build', 'the chain', 'built']);
    expect(await asked('a repeated build')).toEqual(['a repeated build', 'intent.too_many_builds']);
  });

  it('asks for nothing while a submission of the payer can still land', async () => {
    expect(await asked('a repeated build', events.prepared(samples.FIRST))).toEqual(['built']);
  });

  it('builds again where most of the life of the last build is over', async () => {
    const { order } = await build({ isReusable: false });
    expect(order).toEqual(['a repeated build', 'the chain', 'a new build', 'a build', 'transaction.rejected']);
  });

  it('returns until when the transaction can land, also while its submission is live', async () => {
    const expiry = { expiresAt: '2026-11-27T12:00:30.000Z', lastValidBlockHeight: 1_150 };
    expect((await build({})).built).toMatchObject(expiry);
    expect((await build({}, events.prepared(samples.FIRST))).built).toMatchObject(expiry);
  });
});
