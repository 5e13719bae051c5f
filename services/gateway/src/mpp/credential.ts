import { z } from 'zod';

/** What a client echoes of a challenge, as text: nothing of it is verified here. */
const challenge = z.looseObject({
  id: z.string(),
  realm: z.string(),
  method: z.string(),
  intent: z.literal('charge'),
  /** JSON in base64url. */
  request: z.string(),
  expires: z.iso.datetime(),
});
export type EchoedChallenge = z.infer<typeof challenge>;

const credential = z.looseObject({ challenge, payload: z.unknown() });
export type MppCredential = z.infer<typeof credential>;

/** The scheme, then JSON in base64url. Headers are limited to 16 KiB in all. */
const PAYMENT = /^Payment +([A-Za-z0-9_-]+=*) *$/i;

/** The credential in an Authorization header; null for anything else. */
export function readCredential(authorization: string | undefined): MppCredential | null {
  const [, encoded] = PAYMENT.exec(authorization ?? '') ?? [];
  if (encoded === undefined) return null;
  try {
    const read = credential.safeParse(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')));
    return read.success ? read.data : null;
  } catch {
    // It is not JSON.
    return null;
  }
}
