import { type ColdClaim, digestOfRows } from '@pf/database';
import { BundleDamagedError, type ColdBundles } from './bundles.ts';

/** What a check of the intents that have left Postgres has found. */
export interface ColdReport {
  readonly intents: number;
  /** Empty: all is well. */
  readonly problems: readonly string[];
}

/** More of the same kind say nothing new. */
const PROBLEMS_MAX = 20;

/**
 * Proves that each intent that has left Postgres can be read, and is what it was.
 * @param claims those of a bundle together
 * @throws StoreUnavailableError
 */
export async function verifyCold(
  claims: AsyncIterable<readonly ColdClaim[]>,
  bundles: Pick<ColdBundles, 'read'>,
): Promise<ColdReport> {
  let intents = 0;
  // A bundle that is missing is said once.
  const problems = new Set<string>();
  for await (const page of claims)
    for (const claim of page) {
      intents++;
      const problem = await problemOf(claim, bundles);
      if (problem !== null && problems.size < PROBLEMS_MAX) problems.add(problem);
    }
  return { intents, problems: [...problems] };
}

async function problemOf(claim: ColdClaim, bundles: Pick<ColdBundles, 'read'>): Promise<string | null> {
  try {
    const rows = await bundles.read(claim.id, claim);
    const isSame = Buffer.compare(digestOfRows(rows), claim.digest) === 0;
    return isSame ? null : `${claim.bundle} has another ${claim.id} than has left Postgres`;
  } catch (error) {
    if (error instanceof BundleDamagedError) return error.message;
    throw error;
  }
}
