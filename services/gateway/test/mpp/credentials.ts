import type { ApiClient } from '@pf/testing';

/** A challenge as a client reads it. */
export interface Challenge {
  readonly id: string;
  readonly realm: string;
  readonly method: string;
  readonly intent: string;
  readonly expires: string;
  /** JSON in base64url. */
  readonly request: string;
}

export function readChallenge(header: string | null): Challenge {
  const valueOf = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(header ?? '')?.[1] ?? '';
  const [id, realm, method] = [valueOf('id'), valueOf('realm'), valueOf('method')];
  return { id, realm, method, intent: valueOf('intent'), expires: valueOf('expires'), request: valueOf('request') };
}

export async function challengeOf(api: ApiClient, id: string): Promise<Challenge> {
  const { status, headers } = await api.request('POST', `/intents/${id}/mpp`);
  if (status !== 402) throw new Error(`no challenge for ${id}: ${status}`);
  return readChallenge(headers.get('WWW-Authenticate'));
}

/** The header with which a client answers a challenge. */
export const credentialFor = (challenge: Challenge, payload: object): Record<string, string> => ({
  Authorization: `Payment ${Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url')}`,
});
