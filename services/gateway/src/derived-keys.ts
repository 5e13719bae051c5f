import { hkdfSync } from 'node:crypto';
import { type Keyring, keysOf } from '@pf/database';

/** Keys for one purpose, derived from those of SECRETS_KEY: the first makes, all verify. */
export const derivedKeys = (keyring: Keyring, purpose: string): readonly Buffer[] =>
  keysOf(keyring).map((key) => Buffer.from(hkdfSync('sha256', key, '', `payment intents: ${purpose}`, 32)));
