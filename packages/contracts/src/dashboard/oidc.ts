import { z } from 'zod';
import { word } from '../api/fields.ts';
import { OIDC_SECONDS } from './limits.ts';
import type { DashboardOperation } from './operation.ts';
import { signInResponse } from './schemas.ts';

const MINUTES = OIDC_SECONDS / 60;
const PARAMETERS_LENGTH_MAX = 4_000;

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
} as const satisfies Readonly<Record<string, DashboardOperation>>;
