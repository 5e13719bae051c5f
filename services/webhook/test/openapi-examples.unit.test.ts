import { describe, expect, it } from '@jest/globals';
import { webhooks } from '@pf/client';
import { OPERATIONS } from '@pf/contracts';
import { openApiDocument } from '@pf/contracts/openapi';
import { newWebhookSecret } from '@pf/database';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { signatureHeaders } from '../src/signature.ts';

interface Entry {
  readonly post: {
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly example: object } } };
  };
}

const entries = openApiDocument(Object.values(OPERATIONS), '/v1').webhooks as unknown as Readonly<
  Record<string, Entry>
>;

describe('The examples of webhooks in the OpenAPI document', () => {
  it.each(Object.keys(entries))('verify as sent: %s', async (type) => {
    const example = entries[type]?.post.requestBody.content['application/json'].example as { readonly eventId: string };
    const secret = newWebhookSecret();
    const body = Buffer.from(JSON.stringify(example));
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = signatureHeaders({ eventId: example.eventId, timestamp, body }, [secret]);
    expect(await webhooks.verify(body, headers, secret)).toEqual(example);
    expect(new StandardWebhook(secret).verify(body.toString(), headers)).toEqual(example);
    expect(() => new SvixWebhook(secret).verify(body.toString(), headers)).not.toThrow();
    await expect(webhooks.verify(body, headers, newWebhookSecret())).rejects.toThrow('invalid');
  });
});
