import { z } from 'zod';
import { must } from '../api/fields.ts';
import { PASSKEY_SECONDS, PASSKEYS_MAX } from './limits.ts';
import { name } from './names.ts';
import type { DashboardOperation } from './operation.ts';
import { doneResponse, password, passwordRequest, signInResponse } from './schemas.ts';

const MINUTES = PASSKEY_SECONDS / 60;

/** Bytes as WebAuthn writes them in JSON. */
const bytes = (max: number) => {
  const rule = must(`base64url of at most ${max} characters`);
  return z
    .string(rule)
    .max(max, rule)
    .regex(/^[\w-]+$/, rule);
};
/** The specification allows ids of 1,023 bytes. */
const credentialId = bytes(1_364);
const clientData = bytes(8_000);
const kind = z.literal('public-key', must('"public-key"'));

/** What `navigator.credentials.create()` returns, as JSON. What browsers add to it is not needed, and left out. */
const created = z.object({
  id: credentialId,
  rawId: credentialId,
  type: kind,
  response: z.object({ clientDataJSON: clientData, attestationObject: bytes(16_000) }),
});
/** What `navigator.credentials.get()` returns, as JSON. */
const asserted = z.object({
  id: credentialId,
  rawId: credentialId,
  type: kind,
  response: z.object({
    clientDataJSON: clientData,
    authenticatorData: bytes(8_000),
    signature: bytes(8_000),
    /** The person; a passkey always has it. */
    userHandle: bytes(100),
  }),
});

/** With it, the person of a session proves that it is them: by their password, or by one of their passkeys. */
export const confirmation = z
  .strictObject({ password: password.optional(), credential: asserted.optional() })
  .refine(({ password: typed, credential }) => (typed === undefined) !== (credential === undefined), {
    abort: true,
    path: ['password'],
    error: 'is required, unless a passkey confirms: send either password or credential',
  });

const required = z.literal('required');
/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
const creationOptions = z.strictObject({
  challenge: z.string(),
  rp: z.strictObject({ id: z.string(), name: z.string() }),
  user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.strictObject({ type: z.literal('public-key'), alg: z.number() })),
  timeout: z.number(),
  excludeCredentials: z.array(z.strictObject({ id: z.string(), type: z.literal('public-key') })),
  authenticatorSelection: z.strictObject({
    residentKey: required,
    requireResidentKey: z.literal(true),
    userVerification: required,
  }),
  attestation: z.literal('none'),
});
/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export const requestOptions = z.strictObject({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.number(),
  userVerification: required,
});

const time = z.iso.datetime({ precision: 3 });
/** Its person is mailed that it was added or removed. */
const passkeyName = name(100, { isMailed: true });
const passkey = z.strictObject({
  id: z.string(),
  name: z.string(),
  createdAt: time,
  lastUsedAt: time.nullable(),
});

export const PASSKEY_OPERATIONS = {
  beginPasskeySignIn: {
    id: 'beginPasskeySignIn',
    method: 'post',
    action: null,
    path: '/sign-in/passkey/begin',
    tag: 'Passkeys',
    summary: 'Sign in with a passkey: begin',
    description:
      'Returns the options for `navigator.credentials.get()`, and sets a cookie with which `POST /sign-in/passkey` ' +
      `completes the sign-in within ${MINUTES} minutes. The options name no person.`,
    access: 'anyone',
    status: 200,
    response: z.strictObject({ options: requestOptions }),
    errors: [],
  },
  signInWithPasskey: {
    id: 'signInWithPasskey',
    method: 'post',
    action: 'session.begun',
    path: '/sign-in/passkey',
    tag: 'Passkeys',
    summary: 'Sign in with a passkey',
    description:
      'Takes what `navigator.credentials.get()` returned, begins a new session and sets its cookie. A passkey counts ' +
      'as both factors, because the device has verified the person: no code is required. Each ' +
      '`POST /sign-in/passkey/begin` allows one attempt.',
    access: 'anyone',
    body: z.strictObject({ credential: asserted }),
    status: 200,
    response: signInResponse,
    errors: ['passkey.invalid'],
  },
  listPasskeys: {
    id: 'listPasskeys',
    method: 'get',
    path: '/passkeys',
    tag: 'Passkeys',
    summary: 'List your passkeys',
    description: 'Returns your passkeys, newest first.',
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: z.strictObject({ passkeys: z.array(passkey) }),
    errors: [],
  },
  beginPasskey: {
    id: 'beginPasskey',
    method: 'post',
    action: null,
    path: '/passkeys/begin',
    tag: 'Passkeys',
    summary: 'Add a passkey: begin',
    description:
      'Takes the password. Returns the options for `navigator.credentials.create()`, and sets a cookie with which ' +
      `\`POST /passkeys\` adds the passkey within ${MINUTES} minutes.`,
    access: 'signed-in',
    sessionOnly: true,
    body: passwordRequest,
    status: 200,
    response: z.strictObject({ options: creationOptions }),
    errors: ['credentials.invalid'],
  },
  addPasskey: {
    id: 'addPasskey',
    method: 'post',
    action: 'passkey.added',
    path: '/passkeys',
    tag: 'Passkeys',
    summary: 'Add a passkey',
    description:
      'Takes what `navigator.credentials.create()` returned, and a name by which the person recognizes it. The ' +
      `device must have verified the person. A person has at most ${PASSKEYS_MAX} passkeys. A new password removes ` +
      'all of them.',
    access: 'signed-in',
    sessionOnly: true,
    body: z.strictObject({ name: passkeyName, credential: created }),
    status: 201,
    response: z.strictObject({ passkey }),
    errors: ['limit.reached', 'passkey.invalid', 'passkey.exists'],
  },
  renamePasskey: {
    id: 'renamePasskey',
    method: 'patch',
    action: 'passkey.renamed',
    path: '/passkeys/{passkeyId}',
    tag: 'Passkeys',
    summary: 'Rename one of your passkeys',
    description: 'Sets its name.',
    access: 'signed-in',
    sessionOnly: true,
    body: z.strictObject({ name: passkeyName }),
    status: 200,
    response: z.strictObject({ passkey }),
    errors: ['passkey.not_found'],
  },
  removePasskey: {
    id: 'removePasskey',
    method: 'post',
    action: 'passkey.removed',
    path: '/passkeys/{passkeyId}/remove',
    tag: 'Passkeys',
    summary: 'Remove one of your passkeys',
    description: 'Takes the password. The passkey is refused from then on; sessions that started with it continue.',
    access: 'signed-in',
    sessionOnly: true,
    body: passwordRequest,
    status: 200,
    response: doneResponse,
    errors: ['credentials.invalid', 'passkey.not_found'],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
