import type { Network } from '@pf/chains/networks';
import { type Feature, FEATURES, planIncludes, TTL_SECONDS } from '@pf/contracts';
import type { KeyHolder } from '@pf/database';
import { ApiError } from './api-error.ts';

/** The parts of a request that a plan may not include. */
interface PlannedRequest {
  readonly network?: Pick<Network, 'feature' | 'label'>;
  readonly ttlSeconds?: number | undefined;
}

/**
 * Test mode includes everything.
 * @throws ApiError 402 `plan.upgrade_required` if the account's plan lacks a feature of the request
 */
export function requirePlan(
  { plan, livemode }: Pick<KeyHolder, 'plan' | 'livemode'>,
  { network, ttlSeconds = TTL_SECONDS.default }: PlannedRequest,
): void {
  if (!livemode) return;
  if (network?.feature) requireFeature(plan, network.feature, `Live payment intents on ${network.label}`);
  if (ttlSeconds !== TTL_SECONDS.default)
    requireFeature(
      plan,
      'live_ttl_seconds',
      `Live payment intents with a ttlSeconds other than ${TTL_SECONDS.default}`,
    );
}

/** @param title what the feature allows, as the subject of a sentence */
function requireFeature(accountPlan: KeyHolder['plan'], feature: Feature, title: string): void {
  if (planIncludes(accountPlan, feature)) return;
  const plan = FEATURES[feature];
  throw new ApiError('plan.upgrade_required', {
    message: `${title} need the plan "${plan}", and this account has "${accountPlan}". Upgrade the plan to use them.`,
    details: { feature, plan },
  });
}
