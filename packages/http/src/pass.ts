import { type Plan, plan as planSchema } from '@pf/contracts';
import { JOSEError, JWSSignatureVerificationFailed } from 'jose/errors';
import { SignJWT } from 'jose/jwt/sign';
import { jwtVerify } from 'jose/jwt/verify';
import { z } from 'zod';

/** What the dashboard vouches for when it forwards a person's request to the gateway. */
export interface Pass {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly plan: Plan;
  /** The person, whose role the dashboard has checked. */
  readonly userId: string;
  /** Whether the role of the person allows to see secrets of the account. */
  readonly secrets: boolean;
}

/** How long a pass is accepted: it is made for one request. */
export const PASS_SECONDS = 60;
/** By how much the clocks of the two services may differ. */
const TOLERANCE_SECONDS = 5;
/** Sets passes apart from anything else that is signed with HMAC. */
const KIND = { typ: 'pass+jwt', issuer: 'dashboard', audience: 'gateway' } as const;

const claims = z.object({
  sub: z.string().min(1),
  account: z.string().min(1),
  mode: z.enum(['test', 'live']),
  plan: planSchema,
  scope: z.literal('full'),
  // A dashboard of before does not send it.
  secrets: z.boolean().default(false),
});

/** Signs a pass. @param at milliseconds since 1970 */
export async function signPass(
  { accountId, livemode, plan, userId, secrets }: Pass,
  secret: Uint8Array,
  at: number,
): Promise<string> {
  const seconds = Math.floor(at / 1_000);
  return new SignJWT({ account: accountId, mode: livemode ? 'live' : 'test', plan, scope: 'full', secrets })
    .setProtectedHeader({ alg: 'HS256', typ: KIND.typ })
    .setSubject(userId)
    .setIssuer(KIND.issuer)
    .setAudience(KIND.audience)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + PASS_SECONDS)
    .sign(secret);
}

/**
 * What a text says, if it is a pass that was signed with one of the secrets; otherwise null.
 * @param at milliseconds since 1970
 * @param graceSeconds for how long after its end it is still accepted
 */
export async function readPass(
  text: string,
  secrets: readonly Uint8Array[],
  at: number,
  graceSeconds = 0,
): Promise<Pass | null> {
  const tolerance = TOLERANCE_SECONDS + graceSeconds;
  for (const secret of secrets) {
    try {
      const { payload } = await jwtVerify(text, secret, {
        ...KIND,
        algorithms: ['HS256'],
        requiredClaims: ['exp'],
        // Whatever `exp` says: one from the future, or of a longer life, was not made by the dashboard.
        maxTokenAge: PASS_SECONDS,
        clockTolerance: tolerance,
        currentDate: new Date(at),
      });
      const parsed = claims.safeParse(payload);
      if (!parsed.success) return null;
      const { account, mode, plan, sub, secrets: maySeeSecrets } = parsed.data;
      return { accountId: account, livemode: mode === 'live', plan, userId: sub, secrets: maySeeSecrets };
    } catch (error) {
      if (!(error instanceof JOSEError)) throw error;
      // Another secret may have signed it.
      if (!(error instanceof JWSSignatureVerificationFailed)) return null;
    }
  }
  return null;
}
