import type { CommandSeal } from '@pf/contracts';
import { decrypt, derivedKeys, encrypt, type Keyring } from '../webhooks/keyring.ts';

/** Seals commands with a key of their own, so that their topic, which is kept for days, says nothing of a person. */
export function commandSeal(keyring: Keyring): CommandSeal {
  const keys = derivedKeys(keyring, 'commands');
  return {
    seal: (commandId, text) => encrypt(keys, commandId, text).toString('base64'),
    open: (commandId, sealed) => decrypt(keys, commandId, Buffer.from(sealed, 'base64')),
  };
}
