import { OPERATIONS, type PayerSponsor } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { type AccountId, type ChainId, type PaymentIntent, view } from '@pf/domain';
import { isAccount } from '../api-keys.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Endpoint } from '../endpoint.ts';
import { type Adapters, pathId, requireIntent } from './lookup.ts';

/** Whether an account has set a sponsor on a chain. */
export type HasSponsor = (accountId: AccountId, chain: ChainId) => Promise<boolean>;

interface Dependencies {
  readonly adapters: Adapters;
  readonly clientSecrets: Pick<ClientSecrets, 'forPayer' | 'paymasterUrl' | 'solanaPayToken'>;
  readonly hasSponsor: HasSponsor;
  readonly intents: IntentQueries;
  readonly partitions: number;
}

/** GET /intents/{id}. */
export const fetchIntent = (dependencies: Dependencies): Endpoint => ({
  operation: OPERATIONS.getIntent,
  async handle({ holder, request }) {
    const { clientSecrets, intents, partitions } = dependencies;
    const intent = await requireIntent(intents, pathId(request, partitions), holder);
    const more = isAccount(holder)
      ? clientSecrets.forPayer(intent)
      : holder.scope === 'client_secret' && {
          solanaPayToken: clientSecrets.solanaPayToken(intent),
          ...(await paidBy(dependencies, intent, holder.accountId)),
        };
    return { status: 200, body: { intent: view(intent), ...more } };
  },
});

/** How the account pays the fee of a payer, while one can pay. */
async function paidBy(
  { adapters, clientSecrets, hasSponsor }: Pick<Dependencies, 'adapters' | 'clientSecrets' | 'hasSponsor'>,
  intent: PaymentIntent,
  accountId: AccountId,
): Promise<{ readonly sponsors: readonly PayerSponsor[]; readonly paymasterUrl: string | null }> {
  const { chain, status } = intent;
  const { sponsoring, paymasters } = adapters.get(chain) ?? {};
  const paymasterUrl = paymasters ? clientSecrets.paymasterUrl(intent) : null;
  const kind = sponsoring ? 'fee_payer' : paymasterUrl !== null && 'paymaster';
  if (status !== 'created' || kind === false || !(await hasSponsor(accountId, chain)))
    return { sponsors: [], paymasterUrl: null };
  return { sponsors: [kind], paymasterUrl };
}
