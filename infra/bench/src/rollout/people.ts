import { setTimeout as delay } from 'node:timers/promises';
import { seedOwner } from '@pf/dashboard/seed';
import { type ApiClient, apiClient, type ApiResponse, type Cluster } from '@pf/testing';
import type { Fronts } from './front.ts';
import type { Requests } from './requests.ts';

/** Between two looks of a person. */
const LOOK_MS = 200;
const EMAIL = 'rollout@shop.example';

/** Those who use no program of theirs: payers on the payment page, and an owner who has signed in to the dashboard. */
export interface People {
  /** Opens the page of an intent. */
  open(intentId: string): Promise<ApiResponse<object>>;
  /** What the page of an intent asks of the payment API. */
  page(clientSecret: string): ApiClient;
  /** Looks at the dashboard until `over` says so. */
  look(requests: Requests, over: () => boolean): Promise<void>;
}

/** The owner signs in once: the session lasts over all restarts. */
export async function peopleAt({ database, accountId }: Cluster, { dashboard, checkout }: Fronts): Promise<People> {
  const password = await seedOwner(database, { accountId, name: 'Olivia Owner', email: EMAIL });
  const origin = dashboard.url;
  const signedIn = await fetch(`${origin}/api/sign-in`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ email: EMAIL, password }),
  });
  if (!signedIn.ok) throw new Error(`the sign-in returned ${signedIn.status}: ${await signedIn.text()}`);
  const cookie = signedIn.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; ');
  const seen = async (url: string): Promise<ApiResponse<object>> => {
    const response = await fetch(url, { headers: { origin, cookie } });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, body: isJson ? (JSON.parse(text) as object) : {} };
  };
  return {
    open: (intentId) => seen(`${checkout.url}/pay/${intentId}`),
    page: (clientSecret) => apiClient(`${checkout.url}/v1`, clientSecret),
    async look(requests, over) {
      const account = `${origin}/api/accounts/${accountId}`;
      for (; !over(); await delay(LOOK_MS)) {
        await requests.send('dashboard: page', [200], () => seen(`${origin}/`));
        await requests.send('dashboard: account', [200], () => seen(account));
        await requests.send('dashboard: payments', [200], () => seen(`${account}/test/v1/intents?limit=10`));
      }
    },
  };
}
