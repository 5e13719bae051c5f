import { once } from 'node:events';
import { type IncomingMessage, request as begin } from 'node:http';
import { json } from 'node:stream/consumers';
import { newAccountId, newApiKeyId, type Operation, OPERATIONS } from '@pf/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type BareApp, startBareApp } from './bare-app.ts';

const withBody = (Object.values(OPERATIONS) as readonly Operation[]).filter(({ method }) =>
  ['post', 'put', 'patch'].includes(method),
);

describe('a request whose body is held back', () => {
  let app: BareApp;
  let isRevoked = false;
  beforeAll(async () => {
    app = await startBareApp({
      holder: {
        keyId: newApiKeyId(),
        accountId: newAccountId(),
        livemode: false,
        scope: 'full',
        plan: 'scale',
        expiresAt: null,
      },
      isRevoked: () => isRevoked,
    });
  });
  afterAll(() => app.close());

  it.each(withBody.map(({ id, method, path }) => [id, method, path] as const))(
    'is refused for %s when its key was revoked meanwhile',
    async (_id, method, path) => {
      isRevoked = false;
      const sent = begin(`${app.url}/v1${path.replaceAll(/\{\w+\}/g, 'none')}`, {
        method,
        headers: {
          authorization: `Bearer pk_test_${'x'.repeat(32)}`,
          'content-type': 'application/json',
          'content-length': 2,
          expect: '100-continue',
        },
      });
      const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
      sent.flushHeaders();
      await once(sent, 'continue');
      isRevoked = true;
      sent.end('{}');
      const [response] = await answered;
      const { error } = (await json(response)) as { error: { code: string } };
      expect(error.code).toBe('api_key.invalid');
    },
  );
});
