import { DEVICE_SECONDS, TOKEN_DAYS, TOKENS_MAX } from '@pf/contracts/dashboard';
import {
  beginDeviceRequest,
  claimDeviceToken,
  type Database,
  decideDeviceRequest,
  type DeviceRefusal,
  openDeviceRequest,
} from '@pf/database';
import { DashboardError } from '../dashboard-error.ts';
import type { Endpoints } from '../endpoint.ts';
import type { Identity } from '../identity/identity.ts';
import { shownToken, tooManyTokens } from './endpoints.ts';

const DAY_MS = 86_400_000;
const DONE = { done: true } as const;

/** Why a program gets no token, in the words of RFC 8628. */
const REFUSALS: Readonly<Record<DeviceRefusal, () => DashboardError>> = {
  pending: () => new DashboardError('device.authorization_pending'),
  slow_down: () => new DashboardError('device.slow_down'),
  denied: () => new DashboardError('device.access_denied'),
  expired: () => new DashboardError('device.expired_token'),
  full: tooManyTokens,
};

/** A user code as a person may write it: in any case, with or without the hyphen. */
const plain = (userCode: string): string => userCode.toUpperCase().replaceAll(/[\s-]/g, '');
const hyphenated = (userCode: string): string => `${userCode.slice(0, 4)}-${userCode.slice(4)}`;

/** What a person confirms who approves the request with this code. */
const approvalOf = (userCode: string): string => `approval ${userCode}`;

/** The endpoints with which a program gets a personal token by a code that its person approves. */
export function deviceEndpoints({
  database,
  identity,
  now,
  origin,
}: {
  readonly database: Database;
  readonly identity: Identity;
  readonly now: () => number;
  readonly origin: string;
}): Endpoints<'Device sign-in'> {
  return {
    async beginDevice({ body: { clientName }, client }) {
      const at = now();
      const { deviceCode, userCode, intervalSeconds } = await beginDeviceRequest(database, {
        clientName,
        address: client.address ?? null,
        at: new Date(at),
        expiresAt: new Date(at + DEVICE_SECONDS * 1_000),
      });
      return {
        deviceCode,
        userCode: hyphenated(userCode),
        verificationUrl: `${origin}/device`,
        verificationUrlComplete: `${origin}/device#code=${hyphenated(userCode)}`,
        expiresInSeconds: DEVICE_SECONDS,
        intervalSeconds,
      };
    },
    async pollDevice({ body: { deviceCode }, by }) {
      const at = now();
      const expiresAt = new Date(at + TOKEN_DAYS.usual * DAY_MS);
      const claim = { deviceCode, at: new Date(at), expiresAt, max: TOKENS_MAX };
      const claimed = await claimDeviceToken(database, claim, by);
      if (typeof claimed === 'string') throw REFUSALS[claimed]();
      const { token: secret, ...stored } = claimed;
      return { token: shownToken(stored, at), secret };
    },
    async getDevice({ param }) {
      const device = await openDeviceRequest(database, plain(param('userCode')), new Date(now()));
      if (!device) throw new DashboardError('device.not_found');
      const { userCode, createdAt, expiresAt, ...shown } = device;
      return {
        device: {
          ...shown,
          userCode: hyphenated(userCode),
          createdAt: createdAt.toISOString(),
          expiresAt: expiresAt.toISOString(),
        },
      };
    },
    async beginDeviceApproval({ client, param, person, setCookies }) {
      const what = approvalOf(plain(param('userCode')));
      const { options, cookies } = await identity.beginConfirmation(what, person, client);
      setCookies(cookies);
      return { options };
    },
    async approveDevice({ body, by, client, param, person, setCookies }) {
      const userCode = plain(param('userCode'));
      const at = new Date(now());
      if (!(await openDeviceRequest(database, userCode, at))) throw new DashboardError('device.not_found');
      // A session alone is not enough: a link, sent by a stranger, would need two clicks in an open browser.
      setCookies(await identity.confirm(approvalOf(userCode), body, person, client, at));
      const decision = { userCode, userId: person.userId, decision: 'approved' } as const;
      const refusal = await decideDeviceRequest(database, { ...decision, at, max: TOKENS_MAX }, by);
      if (refusal === 'full') throw tooManyTokens();
      if (refusal === 'not_found') throw new DashboardError('device.not_found');
      return DONE;
    },
    async denyDevice({ by, param, person: { userId } }) {
      const decision = { userCode: plain(param('userCode')), userId, decision: 'denied' } as const;
      const refusal = await decideDeviceRequest(database, { ...decision, at: new Date(now()), max: TOKENS_MAX }, by);
      if (refusal !== null) throw new DashboardError('device.not_found');
      return DONE;
    },
  };
}
