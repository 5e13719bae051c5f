import {
  browserSupportsWebAuthn,
  browserSupportsWebAuthnAutofill,
  startAuthentication,
  startRegistration,
  WebAuthnAbortService,
  WebAuthnError,
} from '@simplewebauthn/browser';
import { dashboard } from '../api/client.ts';
import { ExplainedError } from '../api/error.ts';

/** The browser or the device did not do it. */
class PasskeyError extends ExplainedError {
  override readonly name = 'PasskeyError';
}

export const canUsePasskeys = browserSupportsWebAuthn;

/** Lets the person choose a passkey, and begins a session with it. @throws ExplainedError */
export async function signInWithPasskey(): Promise<void> {
  await signIn(false);
}

/**
 * Offers passkeys in the field for the e-mail address, which has `autocomplete="… webauthn"`, until one is chosen.
 * @returns whether the person is signed in now. @throws ExplainedError if the chosen passkey was refused
 */
export async function offerPasskeys(): Promise<boolean> {
  if (!(await browserSupportsWebAuthnAutofill())) return false;
  try {
    await signIn(true);
    return true;
  } catch (error) {
    // The person has not asked for it, so they are not told that it cannot be offered here, or was given up.
    if (error instanceof PasskeyError) return false;
    throw error;
  }
}

/** Ends the offer. */
export const stopOffering = (): void => WebAuthnAbortService.cancelCeremony();

/** Makes a passkey for the person who is signed in. @throws ExplainedError */
export async function addPasskey(name: string, password: string): Promise<void> {
  const { options } = await dashboard('post', '/passkeys/begin', { body: { password } });
  const credential = await asking(() => startRegistration({ optionsJSON: options }));
  await dashboard('post', '/passkeys', { body: { name, credential } });
}

/** Approves a program, with a passkey in place of the password. @throws ExplainedError */
export async function approveWithPasskey(userCode: string): Promise<void> {
  const params = { userCode };
  const { options } = await dashboard('post', '/device/requests/{userCode}/approve/begin', { params });
  const credential = await signed(options, false);
  await dashboard('post', '/device/requests/{userCode}/approve', { params, body: { credential } });
}

async function signIn(useBrowserAutofill: boolean): Promise<void> {
  const { options } = await dashboard('post', '/sign-in/passkey/begin');
  const credential = await signed(options, useBrowserAutofill);
  await dashboard('post', '/sign-in/passkey', { body: { credential } });
}

/** What a passkey that the person chooses has signed. */
async function signed(
  optionsJSON: Parameters<typeof startAuthentication>[0]['optionsJSON'],
  useBrowserAutofill: boolean,
) {
  const { response, ...credential } = await asking(() => startAuthentication({ optionsJSON, useBrowserAutofill }));
  const { userHandle } = response;
  if (userHandle === undefined) throw new PasskeyError('This key does not say whose it is. Use another passkey.');
  return { ...credential, response: { ...response, userHandle } };
}

/** Runs what the browser and the device do: their errors are not written for people. @throws PasskeyError */
async function asking<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (cause) {
    const known = cause instanceof WebAuthnError ? EXPLANATIONS[cause.code] : undefined;
    throw new PasskeyError(known ?? 'The browser returned no passkey: you cancelled, or it took too long. Try again.', {
      cause,
    });
  }
}

const NO_DOMAIN = 'Browsers allow passkeys only where the dashboard has a name: not at an IP address.';
const UNSUITABLE =
  'This device cannot verify that it is you. Set a PIN, a fingerprint or a face up on it, or use another one.';
const EXPLANATIONS: Readonly<Partial<Record<WebAuthnError['code'], string>>> = {
  ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED: 'This device has a passkey of yours already.',
  ERROR_INVALID_DOMAIN: NO_DOMAIN,
  ERROR_INVALID_RP_ID: NO_DOMAIN,
  ERROR_AUTHENTICATOR_MISSING_DISCOVERABLE_CREDENTIAL_SUPPORT: UNSUITABLE,
  ERROR_AUTHENTICATOR_MISSING_USER_VERIFICATION_SUPPORT: UNSUITABLE,
};
