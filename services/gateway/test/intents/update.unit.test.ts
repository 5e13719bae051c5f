import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { newIntentId } from '@pf/contracts';
import { events, given, samples } from '@pf/domain/testing';
import { view } from '@pf/domain';
import { ApiError } from '../../src/api-error.ts';
import type { Call } from '../../src/endpoint.ts';
import { updateIntent } from '../../src/intents/update.ts';

describe('PATCH /intents/{id}', () => {
  /** An update of one key of an intent with this metadata. @returns what is done for it, in order */
  async function update(metadata: Readonly<Record<string, string>>, refusal?: ApiError): Promise<readonly unknown[]> {
    const [intent] = given(events.created({ metadata })).ledger.intents();
    if (intent === undefined) throw new Error('there is no intent');
    const order: unknown[] = [];
    const dependencies = {
      commands: {
        require: async () => {
          order.push('the writer');
          if (refusal) throw refusal;
          return { intent: view(intent), intentId: intent.id };
        },
      },
      intents: {},
      limiter: {
        admitChange: async () => void order.push('admitted'),
        countSize: async (_holder: unknown, counted: unknown) => void order.push(counted),
      },
      partitions: 6,
    };
    const body = JSON.stringify({ updatedAt: '2026-11-21T12:00:00.000Z', metadata: { order: '17' } });
    const request = Object.assign(Readable.from([Buffer.from(body)]), {
      headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
      params: { id: newIntentId(0) },
    });
    const call = { holder: { accountId: samples.ACCOUNT, livemode: false }, request, response: {} } as unknown as Call;
    await updateIntent(dependencies as unknown as Parameters<typeof updateIntent>[0])
      .handle(call)
      .catch((error: unknown) => order.push(error));
    return order;
  }

  it('is counted by all metadata that the intent has after it, however little of that it names', async () => {
    const metadata = { note: 'n'.repeat(500), order: '17' };
    expect(await update(metadata)).toEqual(['admitted', 'the writer', metadata]);
  });

  it('is counted once where it is refused', async () => {
    const stale = new ApiError('intent.stale_update');
    expect(await update({ note: 'n' }, stale)).toEqual(['admitted', 'the writer', stale]);
  });
});
