import type { Mutant } from '../mutant.ts';

const ERASURE = 'services/intent/test/erasure.integration.test.ts';

/** What events say of persons: sealed, recovered, erased. */
export const privacyGuards: readonly Mutant[] = [
  {
    name: 'An event is sealed before it is appended',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'const value = encodeEvent(sealed?.event ?? envelope);',
    instead: 'const value = encodeEvent(envelope);',
    test: {
      file: ERASURE,
      name: 'shows no personal data in the log, and all of it in the projection and in replies',
    },
  },
  {
    name: 'The key of an event that was not projected is recovered from it',
    file: 'packages/database/src/privacy/intent-keys.ts',
    guard: 'keys.set(event.eventId, found.key);',
    instead: '',
    test: { file: ERASURE, name: 'gets their keys from the events and stores them' },
  },
  {
    name: 'An erasure deletes the keys',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'DELETE FROM service.intent_keys WHERE intent_id IN (SELECT intent_id FROM erased)',
    instead: 'SELECT',
    test: { file: ERASURE, name: 'has no personal data in Postgres, and no key that reads it in the log' },
  },
  {
    name: 'An erasure empties the webhooks of the events before',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'UPDATE ${events} AS event SET body = emptied.body',
    instead: 'UPDATE ${events} AS event SET body = event.body',
    test: { file: ERASURE, name: 'has no personal data in Postgres, and no key that reads it in the log' },
  },
  {
    name: 'A rebuild stores no key of an intent that its log erases',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'erased.length === 0 ? keys : keys.filter(({ intentId }) => !erased.includes(intentId));',
    instead: 'keys;',
    test: { file: ERASURE, name: 'is the same after a rebuild, with and without the recovery keys of its day' },
  },
];
