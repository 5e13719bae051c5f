import { describe, expect, it } from '@jest/globals';
import type { ChainAdapter } from '@pf/chains';
import { newIntentId } from '@pf/contracts';
import { events, type ExpectedEvent, given, samples } from '@pf/domain/testing';
import { ApiError } from '../../src/api-error.ts';
import type { Call } from '../../src/endpoint.ts';
import { buildIntent } from '../../src/intents/build.ts';

/** What is asked, in order, by a build of an intent for which Bob has built before. */
async function asked(refused: string | null, ...history: readonly ExpectedEvent[]): Promise<readonly string[]> {
  const [intent] = given(events.created(), events.built(), ...history).ledger.intents();
  const order: string[] = [];
  const admit = (what: string) => async (): Promise<void> => {
    order.push(what);
    if (what === refused) throw new ApiError('intent.too_many_builds');
  };
  const adapter = {
    canLand: async () => {
      order.push('the chain');
      return true;
    },
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
  const built = await buildIntent(dependencies as unknown as Parameters<typeof buildIntent>[0])
    .handle(call)
    .catch(({ code }: ApiError) => code);
  return [...order, typeof built === 'string' ? built : 'built'];
}

describe('POST /intents/{id}/build, asked again', () => {
  it('is counted before the chain is asked', async () => {
    expect(await asked(null)).toEqual(['a repeated build', 'the chain', 'built']);
    expect(await asked('a repeated build')).toEqual(['a repeated build', 'intent.too_many_builds']);
  });

  it('asks for nothing while a submission of the payer can still land', async () => {
    expect(await asked('a repeated build', events.prepared(samples.FIRST))).toEqual(['built']);
  });
});
