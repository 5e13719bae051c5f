import { z } from 'zod';
import { KEY_SCOPES, keyScope, plan } from '../account.ts';
import { anyText, moment, must, word } from '../api/fields.ts';
import { PASSWORD_LENGTH } from './limits.ts';
import { name } from './names.ts';
import { role, ROLES } from './roles.ts';

const emailRule = must('an e-mail address of at most 200 characters');
/**
 * In lower case, once it is known to be ASCII: the lower case of other letters may be one of it, as of the Kelvin sign.
 * An address is compared, counted and stored like this only.
 */
const email = z.string(emailRule).max(200, emailRule).pipe(z.email(emailRule).toLowerCase());
const newPassword = anyText(PASSWORD_LENGTH.min, PASSWORD_LENGTH.max);
/** Any that could be one: whether it is right is decided by comparing. */
export const password = anyText(1, PASSWORD_LENGTH.max);
const token = word('the token of the link in the mail', 2_000);
const code = word('the code that the authenticator app shows, or a backup code', 40);
const roleRule = must(`one of ${ROLES.join(', ')}`);
const anyRole = z.enum(ROLES, roleRule);

export const signUpRequest = z.strictObject({ name: name(100), email, password: newPassword });
export const signInRequest = z.strictObject({ email, password });
export const codeRequest = z.strictObject({ code });
export const verifyEmailRequest = z.strictObject({ token, password });
export const tokenRequest = z.strictObject({ token });
export const forgotPasswordRequest = z.strictObject({ email });
export const resetPasswordRequest = z.strictObject({ token, password: newPassword });
export const changePasswordRequest = z.strictObject({ currentPassword: password, password: newPassword });
export const passwordRequest = z.strictObject({ password });
/** Invitations mail it. */
const accountName = name(100, { isMailed: true });
export const createAccountRequest = z.strictObject({ name: accountName });
export const updateAccountRequest = z.strictObject({ name: accountName });
export const updateMemberRequest = z.strictObject({ role: anyRole });
export const inviteRequest = z.strictObject({ email, role: anyRole });

const modeRule = must('"test" or "live"');
const scopeRule = must(`one of ${KEY_SCOPES.join(', ')}`);
export const createKeyRequest = z.strictObject({
  name: name(100),
  mode: z.enum(['test', 'live'], modeRule),
  scope: z.enum(KEY_SCOPES, scopeRule),
  expiresAt: moment.nullable().optional(),
});

const time = z.iso.datetime({ precision: 3 });
const user = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  secondFactor: z.boolean(),
  createdAt: time,
});
const membership = z.strictObject({ accountId: z.string(), name: z.string(), role });
const account = z.strictObject({ id: z.string(), name: z.string(), plan, role, createdAt: time });
const member = z.strictObject({
  userId: z.string(),
  name: z.string(),
  email: z.string(),
  role,
  secondFactor: z.boolean(),
  createdAt: time,
});
const invitation = z.strictObject({ id: z.string(), email: z.string(), role, createdAt: time, expiresAt: time });
const key = z.strictObject({
  id: z.string(),
  /** Its prefix and last four characters. */
  hint: z.string(),
  name: z.string().nullable(),
  mode: z.enum(['test', 'live']),
  scope: keyScope,
  status: z.enum(['active', 'expired', 'revoked']),
  createdAt: time,
  expiresAt: time.nullable(),
  lastUsedAt: time.nullable(),
  revokedAt: time.nullable(),
});
const session = z.strictObject({
  id: z.string(),
  current: z.boolean(),
  address: z.string().nullable(),
  userAgent: z.string().nullable(),
  createdAt: time,
  expiresAt: time,
});

/** The same whether or not something was sent, so that no response tells who has an account. */
export const mailedResponse = z.strictObject({ mailed: z.literal(true) });
export const doneResponse = z.strictObject({ done: z.literal(true) });
export const signInResponse = z.strictObject({ next: z.enum(['signed_in', 'second_factor']) });
export const sessionResponse = z.strictObject({
  user,
  memberships: z.array(membership),
  /** Of the payment API, for the programs of the accounts. */
  apiUrl: z.string(),
  /** The personal token of the request; null if it was made with a session. */
  token: z.strictObject({ id: z.string(), name: z.string(), expiresAt: time }).nullable(),
});
export const sessionsResponse = z.strictObject({ sessions: z.array(session) });
/** With the secret in `uri`, and the backup codes, which are not shown again. */
export const secondFactorResponse = z.strictObject({ uri: z.string(), backupCodes: z.array(z.string()) });
export const accountResponse = z.strictObject({ account });
export const memberResponse = z.strictObject({ member });
export const membersResponse = z.strictObject({ members: z.array(member) });
export const invitationResponse = z.strictObject({ invitation });
export const invitationsResponse = z.strictObject({ invitations: z.array(invitation) });
export const acceptedResponse = z.strictObject({ membership });
export const keyResponse = z.strictObject({ key });
export const keysResponse = z.strictObject({ keys: z.array(key) });
/** With the key itself, which is not shown again. */
export const newKeyResponse = z.strictObject({ key, secret: z.string() });
