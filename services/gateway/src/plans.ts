import { type Feature, FEATURES, planIncludes, TTL_SECONDS } from '@pf/contracts';
import type { Network } from '@pf/chains/networks';
import type { KeyHolder } from '@pf/database';
import { ApiError } from './api-error.ts';

/** What is asked for, as far as plans care: the chain's network, and the time-to-live where the request sets one. */
interface Wanted {
  readonly network?: Pick<Network, 'feature' | 'label'>;
  readonly ttlSeconds?: number | undefined;
}

/** @throws ApiError 402 where the account's plan lacks what is asked for. Test mode has everything. */
export function requirePlan(
  { plan, livemode }: Pick<KeyHolder, 'plan' | 'livemode'>,
  { network, ttlSeconds = TTL_SECONDS.default }: Wanted,
): void {
  if (!livemode) return;
  if (network?.feature) requireFeature(plan, network.feature, `Live payment intents on ${network.label}`);
  if (ttlSeconds !== TTL_SECONDS.default)
    requireFeature(
      plan,
      'live_ttl_seconds',
      `Live payment intents with another ttlSeconds than ${TTL_SECONDS.default}`,
    );
}

function requireFeature(has: KeyHolder['plan'], feature: Feature, what: string): void {
  if (planIncludes(has, feature)) return;
  const plan = FEATURES[feature];
  throw new ApiError('plan.upgrade_required', {
    message: `${what} are part of the plan "${plan}"; this account has "${has}".`,
    details: { feature, plan },
  });
}
