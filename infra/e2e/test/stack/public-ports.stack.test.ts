import { describe, expect, it } from '@jest/globals';
import { readStack } from '@pf/testing';

const stack = readStack();

/** What an ingress leads to. */
const PUBLIC = { gateway: stack.baseUrl, dashboard: stack.dashboard.url, checkout: stack.checkout.url };

describe.each(Object.entries(PUBLIC))('The public port of the %s', (_, url) => {
  it.each(['/healthz', '/readyz', '/metrics'])('reveals nothing at %s', async (path) => {
    const response = await fetch(new URL(path, url));
    // The dashboard answers every address with its page.
    const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
    expect([path, response.status]).toEqual([path, isPage ? 200 : 404]);
    expect(await response.text()).not.toMatch(/"checks"|"status":"(ok|starting|degraded|unavailable)"|# TYPE|_total/);
  });
});
