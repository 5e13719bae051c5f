import { describe, expect, it } from '@jest/globals';
import type { Database } from '@pf/database';
import { oidcEndpoints } from '../../src/identity/oidc-endpoints.ts';
import { Limits } from '../../src/limits.ts';

describe('Sign-ins at the identity provider', () => {
  it('take two connections in all, from however many addresses they come', async () => {
    const begun: string[] = [];
    const failures: ((error: Error) => void)[] = [];
    const endpoints = oidcEndpoints({
      identity: {
        takeOidcChecks: ({ address }: { readonly address: string }) => {
          begun.push(address);
          return new Promise((_resolve, reject) => failures.push(reject));
        },
      },
      limits: new Limits({} as Database, 1),
      oidc: { name: 'Example ID' },
    } as unknown as Parameters<typeof oidcEndpoints>[0]);
    const signIn = (address: string): Promise<unknown> => {
      const call = { body: { parameters: '' }, client: { address } };
      return endpoints.signInWithOidc(call as never).catch((error: unknown) => error);
    };
    const addresses = Array.from({ length: 10 }, (_none, n) => `192.0.2.${n}`);
    const asked = addresses.map(signIn);
    await new Promise(setImmediate);
    expect(begun).toEqual(addresses.slice(0, 2));
    for (let ended = 0; ended < asked.length; ended += 1) {
      failures[ended]?.(new Error('no checks'));
      await new Promise(setImmediate);
    }
    await Promise.all(asked);
    expect(begun).toEqual(addresses);
  });
});
