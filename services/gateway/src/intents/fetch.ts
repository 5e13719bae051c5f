import { OPERATIONS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { view } from '@pf/domain';
import { isAccount } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Endpoint } from '../endpoint.ts';
import { pathId, requireIntent } from './lookup.ts';

interface Dependencies {
  readonly clientSecrets: Pick<ClientSecrets, 'forPayer' | 'solanaPayToken'>;
  readonly intents: IntentQueries;
  readonly partitions: number;
}

/** GET /intents/{id}. */
export const fetchIntent = ({ clientSecrets, intents, partitions }: Dependencies): Endpoint => ({
  operation: OPERATIONS.getIntent,
  async handle({ holder, request }) {
    const intent = await requireIntent(intents, pathId(request, partitions), holder);
    const more = isAccount(holder)
      ? clientSecrets.forPayer(intent)
      : holder.scope === 'client_secret' && { solanaPayToken: clientSecrets.solanaPayToken(intent) };
    return { status: 200, body: { intent: view(intent), ...more } };
  },
});
