import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** How a device and its browser answer otherwise than they should. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  /** Whether the device has verified the person: default true. */
  readonly verified?: boolean;
  /** Of signatures; default: one more than before. */
  readonly counter?: number;
  readonly userId?: string;
  readonly signWith?: KeyObject;
}

interface Options {
  readonly challenge: string;
}

const USER_PRESENT = 1;
const USER_VERIFIED = 4;
const WITH_CREDENTIAL = 0x40;

const base64url = (value: string | Buffer): string => Buffer.from(value).toString('base64url');
const sha256 = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest();
const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** A device with one passkey, and the browser between it and the page (WebAuthn, level 3). */
export class Authenticator {
  readonly #id = randomBytes(16);
  readonly #keys = newKeys();
  #userId = '';
  #counter = 0;

  get id(): string {
    return base64url(this.#id);
  }

  /** As `navigator.credentials.create()`. */
  create(
    url: string,
    { challenge, user }: Options & { readonly user: { readonly id: string } },
    deviation: Deviation = {},
  ) {
    this.#userId = user.id;
    const credential = Buffer.concat([Buffer.alloc(16), uint16(this.#id.length), this.#id, this.#cose()]);
    const authData = Buffer.concat([this.#data(url, WITH_CREDENTIAL, deviation), credential]);
    // CBOR: { fmt: 'none', attStmt: {}, authData }
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3, 0x63]),
      Buffer.from('fmt'),
      Buffer.from([0x64]),
      Buffer.from('none'),
      Buffer.from([0x67]),
      Buffer.from('attStmt'),
      Buffer.from([0xa0, 0x68]),
      Buffer.from('authData'),
      Buffer.from([0x59]),
      uint16(authData.length),
      authData,
    ]);
    return {
      ...this.#head(),
      response: {
        clientDataJSON: clientData('webauthn.create', url, challenge, deviation),
        attestationObject: base64url(attestationObject),
      },
    };
  }

  /** As `navigator.credentials.get()`. */
  get(url: string, { challenge }: Options, deviation: Deviation = {}) {
    this.#counter = deviation.counter ?? this.#counter + 1;
    const authenticatorData = this.#data(url, 0, deviation);
    const clientDataJSON = clientData('webauthn.get', url, challenge, deviation);
    const signed = Buffer.concat([authenticatorData, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    return {
      ...this.#head(),
      response: {
        clientDataJSON,
        authenticatorData: base64url(authenticatorData),
        signature: base64url(sign('sha256', signed, deviation.signWith ?? this.#keys.privateKey)),
        userHandle: deviation.userId === undefined ? this.#userId : base64url(deviation.userId),
      },
    };
  }

  #head() {
    return { id: this.id, rawId: this.id, type: 'public-key', clientExtensionResults: {} } as const;
  }

  #data(url: string, flags: number, { rpId = new URL(url).hostname, verified = true }: Deviation): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags | USER_PRESENT | (verified ? USER_VERIFIED : 0)]), counter]);
  }

  /** The public key as CBOR: { 1: 2 (EC2), 3: -7 (ES256), -1: 1 (P-256), -2: x, -3: y }. */
  #cose(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    return Buffer.concat([
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32]),
      Buffer.from(x, 'base64url'),
      Buffer.from([0x22, 0x58, 32]),
      Buffer.from(y, 'base64url'),
    ]);
  }
}

/** The key of another device. */
export const anotherKey = (): KeyObject => newKeys().privateKey;

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const clientData = (type: string, url: string, challenge: string, deviation: Deviation): string =>
  base64url(
    JSON.stringify({
      type,
      challenge: deviation.challenge ?? challenge,
      origin: deviation.origin ?? new URL(url).origin,
      crossOrigin: false,
    }),
  );
