import { families } from '@pf/chains/networks';
import { PROFILE_NAMES, type ProfileName, PROFILES } from '@pf/testing/providers';
import { readProfiles } from '../chains/providers.ts';

/** The end-to-end tests that pay, in whose clusters profiles of providers may be before the chains. */
export const PAYMENT_CASES: readonly string[] = [
  ...['watching', 'wallets', 'mpp', 'gasless', 'checkout'].map((folder) => `infra/e2e/test/${folder}/`),
  'infra/e2e/test/chains/chain-failures.e2e.test.ts',
];

const servesAlone = (name: ProfileName): boolean => PROFILES[name].cannot.length === 0;

/**
 * Which profiles are before the chains at the same time: those that are named, or, in turn, each that serves alone, one
 * before each chain: `base:quicknode`.
 * @throws Error for an unknown profile, with those that there are
 */
export function roundsOf(named: readonly string[]): readonly (readonly string[])[] {
  if (named.length > 0) return [readProfiles(named.join(','))];
  const ofFamilies = Object.keys(families).map((family) =>
    PROFILE_NAMES.filter((name) => servesAlone(name) && PROFILES[name].families.some((one) => one === family)).map(
      (name) => `${family}:${name}`,
    ),
  );
  const most = Math.max(...ofFamilies.map(({ length }) => length));
  return Array.from({ length: most }, (_, round) => ofFamilies.flatMap((names) => names[round] ?? []));
}
