import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { ChainAdapter } from '@pf/chains';
import { findNetwork } from '@pf/chains/networks';
import { samples } from '@pf/domain/testing';
import { ApiError } from '../../src/api-error.ts';
import type { Call } from '../../src/endpoint.ts';
import { createIntent } from '../../src/intents/create.ts';

/** A create of an intent that is paid by its amount, which ends with this error. @returns what stays reserved */
async function fail(error: Error): Promise<{ readonly thrown: unknown; readonly left: readonly string[] }> {
  const reserved = new Set<string>();
  const adapter = {
    network: findNetwork(samples.BASE_SEPOLIA),
    token: () => ({ symbol: 'USDC', address: samples.USDC, decimals: 6 }),
    parseAddress: (value: string) => ({ ok: true, value }),
    newReference: () => samples.REFERENCE,
  } as unknown as ChainAdapter;
  const dependencies = {
    adapters: new Map([[samples.BASE_SEPOLIA, adapter]]),
    amounts: {
      reserve: async ({ intentId }: { readonly intentId: string }) => {
        reserved.add(intentId);
        return 12_500_001n;
      },
      release: async (intentId: string) => void reserved.delete(intentId),
    },
    commands: { require: () => Promise.reject(error) },
    intents: {},
    limiter: { admitCreate: async () => undefined },
    log: {},
    now: () => samples.SCENARIO_START,
    partitions: 6,
    payByAmount: true,
    screening: { screen: async () => ({ kind: 'clean' }) },
  };
  const body = JSON.stringify({
    chain: samples.BASE_SEPOLIA,
    token: 'USDC',
    amount: '12.50',
    requestor: samples.ALICE,
    attribution: 'amount',
  });
  const request = Object.assign(Readable.from([Buffer.from(body)]), {
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
    headersDistinct: {},
  });
  const call = { holder: { accountId: samples.ACCOUNT, livemode: false }, request, response: {} } as unknown as Call;
  const endpoint = createIntent(dependencies as unknown as Parameters<typeof createIntent>[0]);
  const thrown: unknown = await endpoint.handle(call).catch((reason: unknown) => reason);
  return { thrown, left: [...reserved] };
}

describe('POST /intents, to be paid by its amount', () => {
  it.each(['rate_limit.exceeded', 'intent.invalid_state'] as const)(
    'gives its amount back where it is refused with %s',
    async (code) => {
      const error = new ApiError(code);
      expect(await fail(error)).toEqual({ thrown: error, left: [] });
    },
  );

  it('keeps its amount where there may be an intent with it', async () => {
    for (const error of [new ApiError('service.unavailable'), new ApiError('internal.error'), new Error('unknown')]) {
      const { thrown, left } = await fail(error);
      expect([thrown, left.length]).toEqual([error, 1]);
    }
  });
});
