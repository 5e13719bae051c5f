import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DELIVERED_TYPES, OPERATIONS } from '../../src/index.ts';
import { intentEvent } from '../../src/intent-events.ts';
import { openApiDocument } from '../../src/openapi/index.ts';
import { WEBHOOK_BODIES } from '../../src/openapi/webhooks.ts';

interface Entry {
  readonly post: {
    readonly operationId: string;
    readonly summary: string;
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly example: object } } };
  };
}

const document = openApiDocument(Object.values(OPERATIONS), '/v1');
const entries = document.webhooks as unknown as Readonly<Record<string, Entry>>;
const exampleOf = (type: string) => entries[type]?.post.requestBody.content['application/json'].example;

describe('the webhooks of the OpenAPI document', () => {
  it('are all that the service sends', () => {
    expect(Object.keys(entries).sort()).toEqual([...DELIVERED_TYPES].sort());
    expect(entries['intent.extra_payment']?.post.operationId).toBe('onIntentExtraPayment');
  });

  it.each([...DELIVERED_TYPES])('have an example that their schema accepts: %s', (type) => {
    const example = exampleOf(type);
    expect(WEBHOOK_BODIES[type].parse(example)).toEqual(example);
    expect(example).toMatchObject({ type });
    // What the history returns has the same form.
    if (type.startsWith('intent.')) expect(intentEvent.parse(example)).toEqual(example);
  });

  it.each([...DELIVERED_TYPES])('have a schema that refuses the example of any other type: %s', (type) => {
    for (const other of DELIVERED_TYPES)
      if (other !== type) expect(WEBHOOK_BODIES[type].safeParse(exampleOf(other)).success).toBe(false);
  });

  it('say of each event of an intent what the contract says', async () => {
    const root = path.join(import.meta.dirname, '../../../..');
    const contract = await readFile(path.join(root, 'docs/reference/contract.md'), 'utf8');
    const rows = [...contract.matchAll(/^\| `(intent\.\w+)` +\| (.+?) +\|$/gm)].map(([, type, trigger]) => [
      type,
      trigger,
    ]);
    const summaries = Object.entries(entries).filter(([type]) => type.startsWith('intent.'));
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(summaries.map(([type, { post }]) => [type, post.summary])),
    );
  });

  it('show the state that each event leads to', () => {
    const states = Object.fromEntries(
      Object.keys(entries).flatMap((type) => {
        const { data } = exampleOf(type) as { data: { intent?: { state: string } } };
        return data.intent ? [[type, data.intent.state]] : [];
      }),
    );
    expect(states).toEqual({
      'intent.created': 'created',
      'intent.detected': 'created',
      'intent.pending': 'pending',
      'intent.confirmed': 'confirmed',
      'intent.finalized': 'finalized',
      'intent.failed': 'failed',
      'intent.expired': 'expired',
      'intent.cancelled': 'cancelled',
      'intent.retry_required': 'created',
      'intent.extra_payment': 'confirmed',
      'intent.mismatched_payment': 'created',
      'intent.mismatch_withdrawn': 'created',
      'intent.payment_claimed': 'created',
      'intent.late_payment': 'confirmed',
      'intent.overpaid': 'finalized',
    });
  });
});
