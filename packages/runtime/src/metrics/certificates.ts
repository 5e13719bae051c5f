import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { loadConfig } from '../config.ts';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** What Node trusts from its start on, whatever becomes of the file. */
const trusted = z.string().optional();

/** When the first of the certificates in NODE_EXTRA_CA_CERTS expires, in ms since 1970; null without one. */
export function firstExpiry(environment?: NodeJS.ProcessEnv): number | null {
  const { NODE_EXTRA_CA_CERTS: file } = loadConfig({ NODE_EXTRA_CA_CERTS: trusted }, environment);
  if (file === undefined) return null;
  try {
    const ends = (readFileSync(file, 'utf8').match(PEM) ?? []).map((pem) =>
      Date.parse(new X509Certificate(pem).validTo),
    );
    return ends.length === 0 ? null : Math.min(...ends);
  } catch {
    // Node itself only warns of a file that it cannot read.
    return null;
  }
}
