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
    summary: 'List the ways to sign in',
    description: '`oidc` has the name of the identity provider; it is null if none is configured.',
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
      `\`POST /sign-in/oidc\` completes the sign-in within ${MINUTES} minutes. The provider redirects the browser ` +
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
      'Takes the query with which the provider redirected the browser, once. A person who has signed in at the ' +
      'provider before is recognized by their identity there. Otherwise the provider must mark the e-mail address as ' +
      'verified: a person who has confirmed the same address here gets the identity as another way to sign in, and a ' +
      'mail that says so; a person who is not registered is registered. A second factor is required as after a ' +
      'password.',
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
      'Returns your identities at identity providers, newest first. `provider` is null for a provider that is no ' +
      'longer configured: its identities cannot sign in. `hasPassword` is false for a person who signs in only at ' +
      'the identity provider.',
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
      'Takes the password; without one the request is refused, because the identity is the only way to sign in. ' +
      'Sessions that started with the identity continue. A later sign-in at the provider links it again only if the ' +
      'provider marks your e-mail address as verified.',
    access: 'signed-in',
    sessionOnly: true,
    body: passwordRequest,
    status: 200,
    response: doneResponse,
    errors: ['credentials.invalid', 'identity.not_found', 'identity.only_way'],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
