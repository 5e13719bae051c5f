import type { AccountId, ChainId } from '@pf/domain';
import type { Database } from '../postgres/database.ts';
import { decrypt, encrypt, type Keyring } from '../webhooks/keyring.ts';

/** What pays the fees of an account's payers on a chain. */
export interface Sponsor {
  readonly chain: ChainId;
  readonly url: string;
  /** Of every request to it. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of every question to a paymaster (ERC-7677). */
  readonly context: Readonly<Record<string, unknown>>;
  readonly updatedAt: Date;
}

interface Row {
  readonly chain: ChainId;
  readonly ciphertext: Buffer;
  readonly updatedAt: Date;
}

/** What the ciphertext is bound to. */
export const sponsorPlace = (accountId: string, chain: string): string => `sponsor ${accountId} ${chain}`;

/** What is stored encrypted, as this code has written it. */
type Secret = Pick<Sponsor, 'url' | 'headers' | 'context'>;
/** Of those that were set before there were contexts. */
const NO_CONTEXT: Pick<Secret, 'context'> = { context: {} };

const opened = (keyring: Keyring, accountId: AccountId, { ciphertext, ...row }: Row): Sponsor => ({
  ...row,
  ...NO_CONTEXT,
  ...(JSON.parse(decrypt(keyring, sponsorPlace(accountId, row.chain), ciphertext)) as Secret),
});

/** Sets the sponsor of an account on a chain, in place of the former one. */
export async function setSponsor(
  { sql }: Database,
  keyring: Keyring,
  accountId: AccountId,
  { chain, url, headers, context, updatedAt }: Sponsor,
): Promise<void> {
  const secret: Secret = { url, headers, context };
  await sql.query(
    `INSERT INTO service.sponsors (account_id, chain, ciphertext, updated_at) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id, chain) DO UPDATE SET ciphertext = excluded.ciphertext, updated_at = excluded.updated_at`,
    [accountId, chain, encrypt(keyring, sponsorPlace(accountId, chain), JSON.stringify(secret)), updatedAt],
  );
}

/**
 * The sponsors of an account on these chains, by chain.
 * @throws UnreadableSecretError
 */
export async function findSponsors(
  { sql }: Database,
  keyring: Keyring,
  accountId: AccountId,
  chains: readonly ChainId[],
): Promise<readonly Sponsor[]> {
  const { rows } = await sql.query<Row>(
    `SELECT chain, ciphertext, updated_at AS "updatedAt" FROM service.sponsors
      WHERE account_id = $1 AND chain = ANY($2) ORDER BY chain`,
    [accountId, chains],
  );
  return rows.map((row) => opened(keyring, accountId, row));
}

/** Whether an account has set a sponsor on a chain. Nothing is decrypted for it. */
export async function hasSponsor({ sql }: Database, accountId: AccountId, chain: ChainId): Promise<boolean> {
  const { rowCount } = await sql.query('SELECT 1 FROM service.sponsors WHERE account_id = $1 AND chain = $2', [
    accountId,
    chain,
  ]);
  return rowCount === 1;
}

/** @returns false if the account had no sponsor there */
export async function removeSponsor({ sql }: Database, accountId: AccountId, chain: ChainId): Promise<boolean> {
  const { rowCount } = await sql.query('DELETE FROM service.sponsors WHERE account_id = $1 AND chain = $2', [
    accountId,
    chain,
  ]);
  return rowCount === 1;
}
