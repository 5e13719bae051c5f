import { createHash, randomBytes, randomInt } from 'node:crypto';
import { newDeviceRequestId } from '@pf/contracts';
import { type Database, inTransaction } from '../postgres/database.ts';
import { type AuditSource, recordPersonalChange } from './audit.ts';
import { countPersonalTokens, type CreatedToken, insertPersonalToken } from './personal-tokens.ts';
import { changingPerson } from './rights.ts';

/** What asks for a token of a person, until they have decided. */
export interface DeviceRequest {
  readonly userCode: string;
  /** The program and its machine, as it says itself. */
  readonly clientName: string;
  readonly address: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Consonants: no word comes of them, and none is taken for another (RFC 8628, 6.1). 20^8 codes. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE_LENGTH = 8;
const DEVICE_CODE_BYTES = 32;
/** The pause between two polls, what a poll too early adds, and the most that it comes to. */
const INTERVAL = { first: 5, more: 5, max: 60 } as const;

/** 256 random bits need no salt and no slow hash. */
const hashCode = (code: string): Buffer => createHash('sha256').update(code).digest();
const newUserCode = (): string =>
  Array.from({ length: USER_CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** Begins a request. The codes are not shown again; that of the device is stored as a hash. */
export async function beginDeviceRequest(
  { sql }: Database,
  {
    clientName,
    address,
    at,
    expiresAt,
  }: {
    readonly clientName: string;
    readonly address: string | null;
    readonly at: Date;
    readonly expiresAt: Date;
  },
): Promise<{ readonly deviceCode: string; readonly userCode: string; readonly intervalSeconds: number }> {
  const deviceCode = randomBytes(DEVICE_CODE_BYTES).toString('base64url');
  const userCode = newUserCode();
  // Two requests with one user code would be as unlikely as a guess: the second one fails.
  await sql.query(
    `INSERT INTO dashboard.device_requests (id, device_hash, user_code, client_name, address, created_at, expires_at,
                                            interval_seconds)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [newDeviceRequestId(), hashCode(deviceCode), userCode, clientName, address, at, expiresAt, INTERVAL.first],
  );
  return { deviceCode, userCode, intervalSeconds: INTERVAL.first };
}

/** The request with this user code; null if there is none that waits for a decision. */
export async function openDeviceRequest({ sql }: Database, userCode: string, at: Date): Promise<DeviceRequest | null> {
  const { rows } = await sql.query<DeviceRequest>(
    `SELECT user_code AS "userCode", client_name AS "clientName", address, created_at AS "createdAt",
            expires_at AS "expiresAt"
       FROM dashboard.device_requests WHERE user_code = $1 AND decision IS NULL AND expires_at > $2`,
    [userCode, at],
  );
  return rows[0] ?? null;
}

/**
 * Approves or denies a request for a person, once.
 * @returns why it did not: 'not_found', or 'full' if the person has `max` tokens that can be used; null if it did
 */
export async function decideDeviceRequest(
  database: Database,
  {
    userCode,
    userId,
    decision,
    at,
    max,
  }: {
    readonly userCode: string;
    readonly userId: string;
    readonly at: Date;
    readonly decision: 'approved' | 'denied';
    readonly max: number;
  },
  source: AuditSource,
): Promise<'not_found' | 'full' | null> {
  return changingPerson(database, userId, source, async (client) => {
    if (decision === 'approved' && (await countPersonalTokens(client, userId, at)) >= max) return 'full';
    const { rows } = await client.query<{ id: string; client_name: string; address: string | null }>(
      `UPDATE dashboard.device_requests SET decision = $3, user_id = $2
        WHERE user_code = $1 AND decision IS NULL AND expires_at > $4 RETURNING id, client_name, address`,
      [userCode, userId, decision, at],
    );
    const [row] = rows;
    if (!row) return 'not_found';
    await recordPersonalChange(client, source, {
      action: `device.${decision}`,
      subject: row.id,
      after: { client: row.client_name, address: row.address },
    });
    return null;
  });
}

/** Why a program gets no token. */
export type DeviceRefusal = 'pending' | 'slow_down' | 'denied' | 'expired' | 'full';

/** Gives the program that has this code its token, once its person has approved. */
export async function claimDeviceToken(
  database: Database,
  {
    deviceCode,
    at,
    expiresAt,
    max,
  }: {
    readonly deviceCode: string;
    readonly at: Date;
    /** Of the token. */
    readonly expiresAt: Date;
    readonly max: number;
  },
  source: AuditSource,
): Promise<CreatedToken | DeviceRefusal> {
  return inTransaction(database, async (client) => {
    const hash = hashCode(deviceCode);
    // The person first, as a new password does, which deletes the request.
    const { rowCount: locked } = await client.query(
      `SELECT FROM dashboard.users
        WHERE id = (SELECT user_id FROM dashboard.device_requests WHERE device_hash = $1) FOR NO KEY UPDATE`,
      [hash],
    );
    const { rows } = await client.query<{
      id: string;
      client_name: string;
      decision: string | null;
      user_id: string | null;
      email: string | null;
      early: boolean;
    }>(
      `SELECT r.id, r.client_name, r.decision, r.user_id, u.email,
              coalesce(r.polled_at > $2::timestamptz - r.interval_seconds * interval '1 second', false) AS early
         FROM dashboard.device_requests r LEFT JOIN dashboard.users u ON u.id = r.user_id
        WHERE r.device_hash = $1 AND r.expires_at > $2 FOR UPDATE OF r`,
      [hash, at],
    );
    const [row] = rows;
    if (!row) return 'expired';
    const { id, client_name: name, decision, user_id: userId, email, early } = row;
    // Decided since the person was looked up: they are not locked. The next poll finds them.
    if (decision === null || (userId !== null && locked === 0)) {
      await client.query(
        `UPDATE dashboard.device_requests
            SET polled_at = $2, interval_seconds = least(interval_seconds + $3, ${INTERVAL.max}) WHERE id = $1`,
        [id, at, early ? INTERVAL.more : 0],
      );
      return early ? 'slow_down' : 'pending';
    }
    await client.query('DELETE FROM dashboard.device_requests WHERE id = $1', [id]);
    if (decision !== 'approved' || userId === null || email === null) return 'denied';
    const token = { userId, name, expiresAt, at, max };
    return (await insertPersonalToken(client, token, { ...source, id: userId, name: email })) ?? 'full';
  });
}
