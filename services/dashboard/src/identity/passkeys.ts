import { type DASHBOARD_OPERATIONS, PASSKEY_SECONDS } from '@pf/contracts/dashboard';
import type { KnownPasskey, PasskeyCredential } from '@pf/database';
import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { z } from 'zod';
import { DashboardError } from '../dashboard-error.ts';

type Operations = typeof DASHBOARD_OPERATIONS;
type CreationOptions = z.output<Operations['beginPasskey']['response']>['options'];
type RequestOptions = z.output<Operations['beginPasskeySignIn']['response']>['options'];
type Created = z.output<Operations['addPasskey']['body']>['credential'];
type Asserted = z.output<Operations['signInWithPasskey']['body']>['credential'];

/** What browsers and devices show. */
const RP_NAME = 'Payment Intent Service';
const TIMEOUT_MS = PASSKEY_SECONDS * 1_000;
/** EdDSA, ES256 and RS256 of COSE: what devices make. */
const ALGORITHMS = [-8, -7, -257];

/** Whom a passkey is made for. */
interface Holder {
  readonly userId: string;
  readonly name: string;
  readonly email: string;
}

/** WebAuthn for one origin. Devices must verify the person: then a passkey proves two factors. */
export class Passkeys {
  readonly #rpId: string;
  readonly #expected: {
    readonly expectedOrigin: string;
    readonly expectedRPID: string;
    readonly requireUserVerification: boolean;
  };

  /** @param url of the dashboard */
  constructor({ origin, hostname }: URL) {
    this.#rpId = hostname;
    this.#expected = { expectedOrigin: origin, expectedRPID: hostname, requireUserVerification: true };
  }

  /** @param excluded the credentials that the person has */
  async creationOptions({ userId, email, name }: Holder, excluded: readonly string[]): Promise<CreationOptions> {
    const { challenge, user, pubKeyCredParams } = await generateRegistrationOptions({
      rpName: RP_NAME,
      rpID: this.#rpId,
      userID: new TextEncoder().encode(userId),
      userName: email,
      userDisplayName: name,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    return {
      challenge,
      rp: { id: this.#rpId, name: RP_NAME },
      user,
      pubKeyCredParams,
      timeout: TIMEOUT_MS,
      excludeCredentials: excluded.map((id) => ({ id, type: 'public-key' })),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      // The make of the device is none of our business.
      attestation: 'none',
    };
  }

  /** @throws DashboardError `passkey.invalid` */
  async created(credential: Created, expectedChallenge: string): Promise<PasskeyCredential> {
    const { registrationInfo } = await verified(
      verifyRegistrationResponse({
        response: { ...credential, clientExtensionResults: {} },
        expectedChallenge,
        ...this.#expected,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    );
    if (!registrationInfo) throw new DashboardError('passkey.invalid');
    const { id, publicKey, counter } = registrationInfo.credential;
    return { credentialId: id, publicKey, counter };
  }

  async requestOptions(): Promise<RequestOptions> {
    // The person chooses a passkey: the options name none, and so tell nothing about any person.
    const { challenge } = await generateAuthenticationOptions({ rpID: this.#rpId });
    return { challenge, rpId: this.#rpId, timeout: TIMEOUT_MS, userVerification: 'required' };
  }

  /** @returns the new counter of signatures. @throws DashboardError `passkey.invalid` */
  async asserted(credential: Asserted, expectedChallenge: string, passkey: KnownPasskey): Promise<number> {
    if (Buffer.from(credential.response.userHandle, 'base64url').toString() !== passkey.userId)
      throw new DashboardError('passkey.invalid');
    const { authenticationInfo } = await verified(
      verifyAuthenticationResponse({
        response: { ...credential, clientExtensionResults: {} },
        expectedChallenge,
        ...this.#expected,
        credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: passkey.counter },
      }),
    );
    return authenticationInfo.newCounter;
  }
}

/** @throws DashboardError `passkey.invalid` */
async function verified<Result extends { readonly verified: boolean }>(verification: Promise<Result>): Promise<Result> {
  let result: Result;
  try {
    result = await verification;
  } catch (cause) {
    // The library throws for all that is wrong but the signature, and knows nothing that could fail by itself.
    throw new DashboardError('passkey.invalid', { cause });
  }
  if (!result.verified) throw new DashboardError('passkey.invalid');
  return result;
}
