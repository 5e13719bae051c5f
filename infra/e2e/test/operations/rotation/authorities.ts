import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 24 * 60 * 60 * 1_000;

interface Issued {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** A certificate of a server on 127.0.0.1, or of an authority where `by` is absent. */
async function issue(name: string, by?: Issued): Promise<Issued> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: by?.certificate.subject ?? `CN=${name}`,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(by === undefined, undefined, true),
      ...(by ? [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])] : []),
    ],
  });
  return { certificate, keys };
}

/**
 * Writes the certificates of two authorities, `old-ca.crt` and `new-ca.crt`, both in one file, `both-ca.crt`, and what
 * each has issued for one server: `old.crt` with `old.key`, `new.crt` with `new.key`.
 */
export async function writeAuthorities(folder: string): Promise<void> {
  const file = (name: string): string => path.join(folder, name);
  for (const authority of ['old', 'new']) {
    const root = await issue(`${authority} authority`);
    const { certificate, keys } = await issue('server', root);
    const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
    await writeFile(file(`${authority}-ca.crt`), root.certificate.toString('pem'));
    await writeFile(file(`${authority}.crt`), certificate.toString('pem'));
    // Postgres refuses a key that others may read.
    await writeFile(file(`${authority}.key`), `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`, {
      mode: 0o600,
    });
  }
  const both = await Promise.all(['old', 'new'].map((authority) => readFile(file(`${authority}-ca.crt`), 'utf8')));
  await writeFile(file('both-ca.crt'), both.join('\n'));
}
