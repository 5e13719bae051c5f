import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstExpiry } from '../../src/metrics/certificates.ts';

describe('the first expiry of the trusted certificates', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'pf-certificates-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const expiryOf = (text: string): number | null => {
    const file = path.join(folder, 'ca.crt');
    writeFileSync(file, text);
    return firstExpiry({ NODE_EXTRA_CA_CERTS: file });
  };

  it('comes from the certificate in the file that ends first', () => {
    const some = rootCertificates.slice(0, 5);
    const ends = some.map((pem) => Date.parse(new X509Certificate(pem).validTo));
    expect(expiryOf(some.join('\n'))).toBe(Math.min(...ends));
    expect(expiryOf(some.toReversed().join('\n'))).toBe(Math.min(...ends));
  });

  it('is unknown without a file, and from one that Node cannot read either', () => {
    expect(firstExpiry({})).toBeNull();
    expect(firstExpiry({ NODE_EXTRA_CA_CERTS: path.join(folder, 'absent') })).toBeNull();
    expect(expiryOf('')).toBeNull();
    expect(expiryOf('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----')).toBeNull();
  });
});
