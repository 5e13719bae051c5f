import { expect } from '@jest/globals';
import { PASSWORD, type Person } from '../person.ts';
import type { Authenticator, Deviation } from './authenticator.ts';

interface How extends Deviation {
  readonly name?: string;
  /** Of the last request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Adds a passkey of this device. */
export async function addPasskey(person: Person, device: Authenticator, { name = 'Phone', headers, ...how }: How = {}) {
  const begun = await person.ask('beginPasskey', { body: { password: PASSWORD } });
  expect(begun.status).toBe(200);
  const credential = device.create(person.url, begun.body.options, how);
  return person.ask('addPasskey', { body: { name, credential }, ...(headers && { headers }) });
}

/** Signs in with the passkey of this device. */
export async function signInWithPasskey(person: Person, device: Authenticator, { headers, ...how }: How = {}) {
  const begun = await person.ask('beginPasskeySignIn');
  expect(begun.status).toBe(200);
  const credential = device.get(person.url, begun.body.options, how);
  return person.ask('signInWithPasskey', { body: { credential }, ...(headers && { headers }) });
}
