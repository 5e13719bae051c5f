import { z } from 'zod';
import { word } from '../api/fields.ts';
import { OIDC_SECONDS } from './limits.ts';
import type { DashboardOperation } from './operation.ts';
import { doneResponse, passwordRequest, signInResponse } from './schemas.ts';

const MINUTES = OIDC_SECONDS / 60;
const PARAMETERS_LENGTH_MAX = 4_000;

const identity = z.strictObject({
  id: z.string(),
  issuer: z.string(),
  /** The provider's id of the person. */
  subject: z.string(),
  /** What people call the provider; null if it is not the one that is set up now. */
  provider: z.string().nullable(),
  createdAt: z.iso.datetime({ precision: 3 }),
});

export const OIDC_OPERATIONS = {
  getSignInOptions: {
    id: 'getSignInOptions',
    method: 'get',
    path: '/sign-in/options',
    tag: 'Single sign-on',
    summary: 'How people can sign in here',
    description: '`oidc` has the name of the identity provider; it is null where none is set up.',
    access: 'anyone',
    status: 200,
    response: z.strictObject({ oidc: z.strictObject({ name: z.string() }).nullable() }),
    errors: [],
  },
  beginOidcSignIn: {
    id: 'beginOidcSignIn',
    method: 'post',
    action: null,
    path: '/sign-in/oidc/begin',
    tag: 'Single sign-on',
    summary: 'Sign in at the identity provider: begin',
    description:
      'Returns the URL of the identity provider where the person signs in, and sets a cookie with which ' +
      `\`POST /sign-in/oidc\` completes the sign-in within ${MINUTES} minutes. The provider leads the browser back ` +
      'to the page `/sign-in/oidc` of the dashboard.',
    access: 'anyone',
    status: 200,
    response: z.strictObject({ url: z.url() }),
    errors: ['oidc.disabled'],
  },
  signInWithOidc: {
    id: 'signInWithOidc',
    method: 'post',
    action: 'session.begun',
    path: '/sign-in/oidc',
    tag: 'Single sign-on',
    summary: 'Sign in at the identity provider: complete',
    description:
      'Takes the query with which the provider has led the browser back, once. A person whom the provider has signed ' +
      'in here before is known by their identity there. Otherwise the provider must say that it has verified the ' +
      'e-mail address: who has confirmed the same address here gets the identity as a further way to sign in, and a ' +
      'mail that says so; who is not registered is registered. The second factor of the person is asked for as after ' +
      'a password.',
    access: 'anyone',
    body: z.strictObject({
      parameters: word('the query of the page to which the provider has led the browser', PARAMETERS_LENGTH_MAX),
    }),
    status: 200,
    response: signInResponse,
    errors: ['oidc.disabled', 'oidc.refused', 'oidc.email_unverified', 'email.unverified'],
  },
  listIdentities: {
    id: 'listIdentities',
    method: 'get',
    path: '/identities',
    tag: 'Single sign-on',
    summary: 'List your identities',
    description:
      'Who you are at identity providers, newest first. `provider` is null for a provider that is no longer set up: ' +
      'its identities sign no one in. `hasPassword` is false for who signs in at the identity provider only.',
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: z.strictObject({ identities: z.array(identity), hasPassword: z.boolean() }),
    errors: [],
  },
  unlinkIdentity: {
    id: 'unlinkIdentity',
    method: 'post',
    action: 'identity.unlinked',
    path: '/identities/{identityId}/unlink',
    tag: 'Single sign-on',
    summary: 'Unlink one of your identities',
    description:
      'Takes the password; who has none is refused, because it is their only way to sign in. Sessions that the ' +
      'identity has begun go on. A later sign-in at the provider links it again only if the provider says that it ' +
      'has verified your e-mail address.',
    access: 'signed-in',
    sessionOnly: true,
    body: passwordRequest,
    status: 200,
    response: doneResponse,
    errors: ['credentials.invalid', 'identity.not_found', 'identity.only_way'],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
