import { z } from 'zod';
import { word } from '../api/fields.ts';
import { DEVICE_SECONDS, PASSKEY_SECONDS, TOKEN_DAYS } from './limits.ts';
import { name } from './names.ts';
import type { DashboardOperation } from './operation.ts';
import { confirmation, requestOptions } from './passkeys.ts';
import { doneResponse } from './schemas.ts';
import { token } from './tokens.ts';

const time = z.iso.datetime({ precision: 3 });
const MINUTES = DEVICE_SECONDS / 60;

/** Sign-in of a program without a browser of its own: RFC 8628 in shape, with the names of this API. */
export const DEVICE_OPERATIONS = {
  beginDevice: {
    id: 'beginDevice',
    method: 'post',
    action: null,
    path: '/device/code',
    tag: 'Device sign-in',
    summary: 'Start a device sign-in',
    description:
      'For a program: returns a device code for itself and a user code for the person, who enters it at ' +
      `\`verificationUrl\` within ${MINUTES} minutes. \`clientName\` is shown to the person: the program and its ` +
      'machine.',
    access: 'anyone',
    anyOrigin: true,
    body: z.strictObject({ clientName: name(100) }),
    status: 201,
    response: z.strictObject({
      deviceCode: z.string(),
      userCode: z.string(),
      verificationUrl: z.string(),
      /** With the user code in the fragment. */
      verificationUrlComplete: z.string(),
      expiresInSeconds: z.int(),
      intervalSeconds: z.int(),
    }),
    errors: [],
  },
  pollDevice: {
    id: 'pollDevice',
    method: 'post',
    action: 'token.created',
    path: '/device/token',
    tag: 'Device sign-in',
    summary: 'Request the token',
    description:
      'For a program: returns a personal token, once, after the person has approved. Until then, poll every ' +
      '`intervalSeconds`; after `device.slow_down`, wait 5 s longer from then on. The token is valid for ' +
      `${TOKEN_DAYS.usual} days, and named after the program.`,
    access: 'anyone',
    anyOrigin: true,
    body: z.strictObject({ deviceCode: word('the deviceCode of POST /device/code') }),
    status: 200,
    response: z.strictObject({ token, secret: z.string() }),
    errors: [
      'device.authorization_pending',
      'device.slow_down',
      'device.access_denied',
      'device.expired_token',
      'limit.reached',
    ],
  },
  getDevice: {
    id: 'getDevice',
    method: 'get',
    path: '/device/requests/{userCode}',
    tag: 'Device sign-in',
    summary: 'Fetch a request',
    description: 'Returns which program requests a token with this user code, and from where.',
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: z.strictObject({
      device: z.strictObject({
        userCode: z.string(),
        clientName: z.string(),
        address: z.string().nullable(),
        createdAt: time,
        expiresAt: time,
      }),
    }),
    errors: ['device.not_found'],
  },
  beginDeviceApproval: {
    id: 'beginDeviceApproval',
    method: 'post',
    action: null,
    path: '/device/requests/{userCode}/approve/begin',
    tag: 'Device sign-in',
    summary: 'Approve a request with a passkey: begin',
    description:
      'Returns the options for `navigator.credentials.get()`, and sets a cookie with which ' +
      `\`POST /device/requests/{userCode}/approve\` takes the passkey within ${PASSKEY_SECONDS / 60} minutes.`,
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: z.strictObject({ options: requestOptions }),
    errors: [],
  },
  approveDevice: {
    id: 'approveDevice',
    method: 'post',
    action: 'device.approved',
    path: '/device/requests/{userCode}/approve',
    tag: 'Device sign-in',
    summary: 'Approve a request',
    description:
      'Takes the password, or as `credential` what `navigator.credentials.get()` returned for ' +
      '`POST /device/requests/{userCode}/approve/begin`. The program receives a personal token of the person when it ' +
      'polls next.',
    access: 'signed-in',
    sessionOnly: true,
    body: confirmation,
    status: 200,
    response: doneResponse,
    errors: ['credentials.invalid', 'passkey.invalid', 'device.not_found', 'limit.reached'],
  },
  denyDevice: {
    id: 'denyDevice',
    method: 'post',
    action: 'device.denied',
    path: '/device/requests/{userCode}/deny',
    tag: 'Device sign-in',
    summary: 'Deny a request',
    description: 'The program receives no token.',
    access: 'signed-in',
    sessionOnly: true,
    status: 200,
    response: doneResponse,
    errors: ['device.not_found'],
  },
} as const satisfies Readonly<Record<string, DashboardOperation>>;
