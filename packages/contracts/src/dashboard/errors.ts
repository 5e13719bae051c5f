import { z } from 'zod';
import { type ErrorEntry, ERRORS } from '../errors.ts';

/** The registry: every error that the dashboard's API can return (docs/reference/dashboard-api.md). */
export const DASHBOARD_ERRORS = {
  'request.malformed_json': ERRORS['request.malformed_json'],
  'request.malformed_http': ERRORS['request.malformed_http'],
  'request.validation_failed': ERRORS['request.validation_failed'],
  'device.authorization_pending': {
    status: 400,
    message: 'The user has neither approved nor denied the request yet.',
    cause: 'The user code was neither approved nor denied.',
    remedy: 'Poll again after `intervalSeconds`.',
  },
  'device.slow_down': {
    status: 400,
    message: 'The program polled too soon. Wait 5 seconds longer between requests from now on.',
    cause: 'The program did not wait for its interval, which has been increased by 5 s, to at most 60 s.',
    remedy: 'Poll again after the longer interval.',
  },
  'device.access_denied': {
    status: 400,
    message: 'The user denied the request.',
    cause: 'The user code was denied in the dashboard.',
    remedy: 'Start again with `POST /device/code`, if the user wants to.',
  },
  'device.expired_token': {
    status: 400,
    message: 'The device code has expired, was used, or never existed.',
    cause: 'The user did not decide in time, set a new password in the meantime, or the token was already issued.',
    remedy: 'Start again with `POST /device/code`.',
  },
  'credentials.invalid': {
    status: 401,
    message: 'The e-mail address or the password is wrong.',
    cause: 'No person has this e-mail address and this password, or the current password is wrong.',
    remedy: 'Check both, or set a new password with `POST /password/forgot`.',
  },
  'session.required': {
    status: 401,
    message: 'Sign in to make this request.',
    cause: 'The request has neither a session cookie nor a personal token, or its session has ended.',
    remedy: 'Sign in with `POST /sign-in`.',
  },
  'token.invalid': {
    status: 401,
    message: 'The personal token is invalid: it was revoked, has expired or never existed.',
    cause: 'The `Authorization` header has a bearer token that is not an active personal token.',
    remedy: 'Create another one with `pf login`, or in the dashboard.',
  },
  'second_factor.invalid': {
    status: 401,
    message: 'The code is wrong or has expired. Try the next one.',
    cause: 'The code of the authenticator app or the backup code is wrong, or the sign-in started too long ago.',
    remedy: 'Send the code that the app shows now. After 10 minutes or too many wrong codes, sign in again.',
  },
  'passkey.invalid': {
    status: 401,
    message: 'This passkey was not accepted. Try again, or use your password.',
    cause:
      'The passkey is unknown or was removed, belongs to another origin, was used without user verification, or has ' +
      'a counter that went back; or the challenge has expired.',
    remedy: 'Start again. If it fails again, sign in with the password.',
  },
  'oidc.refused': {
    status: 401,
    message: 'The sign-in was not completed, or took too long. Start again.',
    cause:
      'The provider refused, the user cancelled, the response does not belong to the sign-in that this browser ' +
      'started, or the sign-in has expired.',
    remedy: 'Start again with `POST /sign-in/oidc/begin`. If it fails again, sign in with the password.',
  },
  'oidc.email_unverified': {
    status: 403,
    message: 'The identity provider has not verified your e-mail address.',
    cause: 'The identity is new here, and the provider sends no e-mail address, or does not mark it as verified.',
    remedy: 'Verify the address at the provider and sign in again, or sign up here.',
  },
  'email.unverified': {
    status: 403,
    message: 'Confirm your e-mail address first: follow the link that was sent to it.',
    cause:
      'The password is correct, but the e-mail address was never confirmed. A new link was sent, unless one was sent ' +
      'in the last 15 minutes.',
    remedy: 'Follow the link in the newest mail, then sign in.',
  },
  'origin.foreign': {
    status: 403,
    message: 'Requests that change something are accepted only from the dashboard itself.',
    cause: 'The `Origin` header is missing, or is not the origin of the dashboard, and there is no personal token.',
    remedy: 'Send the origin of the dashboard as `Origin`, as browsers do.',
  },
  'token.insufficient': {
    status: 403,
    message: 'No personal token allows this request. Make it in the dashboard, where you sign in.',
    cause: 'Passwords, second factors, passkeys, sessions and tokens can be changed only with a session.',
    remedy: 'Sign in to the dashboard, and do it there.',
  },
  'role.insufficient': {
    status: 403,
    message: 'Your role in this account does not allow this request.',
    cause: 'The request needs one of the roles in `details.roles`.',
    remedy: 'Ask an owner of the account to do it, or to change your role.',
  },
  'oidc.disabled': {
    status: 404,
    message: 'No identity provider is set up here. Sign in with your password.',
    cause: 'The service runs without `OIDC_ISSUER`.',
    remedy: 'Sign in with `POST /sign-in`.',
  },
  'account.not_found': {
    status: 404,
    message: 'You are not a member of an account with this id.',
    cause: 'The account does not exist, or the signed-in person is not a member of it.',
    remedy: 'Use the id of an account that `GET /session` returns.',
  },
  'member.not_found': {
    status: 404,
    message: 'The account has no such member.',
    cause: 'No member of the account has this id.',
    remedy: 'Use an id that `GET /accounts/{accountId}/members` returns.',
  },
  'key.not_found': {
    status: 404,
    message: 'The account has no API key with this id.',
    cause: 'No key of the account has this id.',
    remedy: 'Use an id that `GET /accounts/{accountId}/keys` returns.',
  },
  'token.not_found': {
    status: 404,
    message: 'You have no personal token with this id.',
    cause: 'The id is unknown, or the token belongs to another user.',
    remedy: 'Use an id that `GET /tokens` returns.',
  },
  'device.not_found': {
    status: 404,
    message: 'No program is waiting for this code. Compare it with what your terminal shows, or start again there.',
    cause: 'The user code is unknown, has expired, or was already approved or denied.',
    remedy: 'Start again where the code was shown.',
  },
  'invitation.not_found': {
    status: 404,
    message: 'The account has no such open invitation.',
    cause: 'The invitation was accepted or withdrawn, has expired, or belongs to another account.',
    remedy: 'Use an id that `GET /accounts/{accountId}/invitations` returns.',
  },
  'attention.not_found': {
    status: 404,
    message: 'The account has no such payment that needs attention in this mode.',
    cause:
      'The id is unknown, belongs to another account or mode, or to a deposit, an endpoint or a delivery, which ' +
      'cannot be marked.',
    remedy: 'Use the id of a payment that `GET /accounts/{accountId}/{mode}/attention` returns.',
  },
  'passkey.not_found': {
    status: 404,
    message: 'You have no such passkey.',
    cause: 'The passkey was removed, or belongs to another user.',
    remedy: 'Use an id that `GET /passkeys` returns.',
  },
  'identity.not_found': {
    status: 404,
    message: 'You have no such identity.',
    cause: 'The identity was unlinked, or belongs to another user.',
    remedy: 'Use an id that `GET /identities` returns.',
  },
  'session.not_found': {
    status: 404,
    message: 'You have no such session.',
    cause: 'The session has ended, or belongs to another user.',
    remedy: 'Use an id that `GET /sessions` returns.',
  },
  'route.not_found': {
    status: 404,
    message: 'No endpoint has this path. All paths begin with /api.',
    cause: 'The path is not one of this API.',
    remedy: 'Check the path: all of them begin with `/api`.',
  },
  'request.method_not_allowed': ERRORS['request.method_not_allowed'],
  'request.timeout': ERRORS['request.timeout'],
  'member.last_owner': {
    status: 409,
    message: 'An account needs an owner. Make another member an owner first.',
    cause: 'The request would leave the account without an owner.',
    remedy: 'Give another member the role `owner` first.',
  },
  'member.exists': {
    status: 409,
    message: 'A person with this e-mail address is already a member of the account.',
    cause: 'The invited person is a member.',
    remedy: "Change the member's role instead.",
  },
  'limit.reached': {
    status: 409,
    message: 'A limit is reached, so this request is refused.',
    cause: 'The maximum number exists already: `details.limit` names what is limited, `details.max` is the limit.',
    remedy: 'Remove one that you no longer need.',
  },
  'passkey.exists': {
    status: 409,
    message: 'This passkey has already been added.',
    cause: 'The credential is already a passkey, of this user or another.',
    remedy: 'Use it, or create another one.',
  },
  'identity.only_way': {
    status: 409,
    message: 'You have no password, so you could no longer sign in. Set one first, with a link that is mailed to you.',
    cause: 'The user signs in only at the identity provider.',
    remedy: 'Set a password with `POST /password/forgot` and `POST /password/reset` first.',
  },
  'second_factor.enabled': {
    status: 409,
    message: 'The second factor is already enabled. Disable it first to set up another app.',
    cause: 'The user already signs in with a second factor.',
    remedy: 'Disable it with `POST /second-factor/disable` first.',
  },
  'second_factor.not_begun': {
    status: 409,
    message: 'There is no second factor to confirm. Start with POST /second-factor.',
    cause: 'The setup of a second factor was not started, or is complete.',
    remedy: 'Start it with `POST /second-factor`.',
  },
  'request.too_large': ERRORS['request.too_large'],
  'request.unsupported_media_type': ERRORS['request.unsupported_media_type'],
  'link.invalid': {
    status: 422,
    message: 'This link is invalid: it was used, withdrawn or has expired. Ask for a new one.',
    cause:
      'The token is unknown, was used, or has expired; an invitation may also be for another e-mail address, or the ' +
      'person who made it is an owner no longer.',
    remedy: 'Request a new link. To accept an invitation, sign in with the e-mail address that it was sent to.',
  },
  'rate_limit.exceeded': {
    status: 429,
    retryAfterSeconds: 60,
    message: 'Too many attempts. Wait before you try again.',
    cause:
      'The IP address, the user or the account has made too many requests of this kind, or has too many in progress.',
    remedy: 'Wait `details.retry_after` seconds.',
  },
  'request.uri_too_long': ERRORS['request.uri_too_long'],
  'request.headers_too_large': ERRORS['request.headers_too_large'],
  'internal.error': ERRORS['internal.error'],
  'service.unavailable': {
    status: 503,
    retryAfterSeconds: 2,
    message: 'The service is unavailable at the moment. Send the request again.',
    cause: 'The database or the payment API did not respond. The request may have taken effect.',
    remedy: 'After `details.retry_after` seconds, read the current state, then decide.',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

export type DashboardErrorCode = keyof typeof DASHBOARD_ERRORS;
export const DASHBOARD_ERROR_CODES = Object.keys(DASHBOARD_ERRORS) as readonly DashboardErrorCode[];

/** The body of every error response: always all four keys, as in the public API. */
export const dashboardError = z.strictObject({
  error: z.strictObject({
    code: z.enum(DASHBOARD_ERROR_CODES),
    message: z.string(),
    param: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  }),
});
