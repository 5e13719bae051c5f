import type { Mutant } from '../mutant.ts';

const LIST_TEST = 'packages/screening/test/list/list-screener.unit.test.ts';
const API_TEST = 'packages/screening/test/api/api-screener.unit.test.ts';
const GATEWAY_TEST = 'services/gateway/test/intents/screening.integration.test.ts';

/** No wallet passes unscreened, or by an old result. */
export const screeningGuards: readonly Mutant[] = [
  {
    name: 'A sanctions list that was not fetched for 48 hours is not used',
    file: 'packages/screening/src/list/list-screener.ts',
    guard: 'if (age > STALE_AFTER_MS || age < -AHEAD_MS)',
    instead: 'if (age < -AHEAD_MS)',
    test: {
      file: LIST_TEST,
      name: 'is unavailable if the list was not fetched for 48 hours, until it is fetched again',
    },
  },
  {
    name: 'EVM addresses are screened whatever their case',
    file: 'packages/screening/src/comparable.ts',
    guard: '(isEvmAddress(address) ? address.toLowerCase() : address)',
    instead: 'address',
    test: { file: LIST_TEST, name: 'finds EVM addresses in any case under any label, and says whose they are' },
  },
  {
    name: 'A wallet that cannot be screened does not pass',
    file: 'packages/screening/src/screening.ts',
    guard: 'if (failure) throw failure;',
    instead: '',
    test: { file: API_TEST, name: 'is unavailable if any screener fails, however it fails' },
  },
  {
    name: 'A clean result is cached for ten minutes and not longer',
    file: 'packages/screening/src/api/api-screener.ts',
    guard: 'ttl: cleanSeconds * 1_000, ',
    instead: '',
    test: {
      file: API_TEST,
      name: 'caches a clean result for ten minutes and not longer, whatever the case of the address',
    },
  },
  {
    name: 'Wallets are screened again on submit',
    file: 'services/gateway/src/intents/submit.ts',
    guard: 'await screen(fulfiller);',
    instead: 'await Promise.resolve(screen);',
    test: {
      file: GATEWAY_TEST,
      name: 'covers both wallets again on submit, after the state and before the claim',
    },
  },
  {
    name: 'A payment whose sender is to be screened is noted before the cursor moves',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'await unscreened.note(foreign);',
    instead: 'await unscreened.note(foreign.slice(foreign.length));',
    test: {
      file: 'services/watcher/test/sender-screening.integration.test.ts',
      name: 'is screened after the payment, and flagged for the operator when sanctioned',
    },
  },
  {
    name: 'Only the wallet that was screened on submit is not screened again',
    file: 'services/watcher/src/sender-screening.ts',
    guard: 'comparable(data.transfer.from) === comparable(screened)',
    instead: 'screened.length > 0',
    test: {
      file: 'services/watcher/test/sender-screening.unit.test.ts',
      name: 'covers whoever pays in a submitted transaction beside the wallet that was screened',
    },
  },
  {
    name: 'What fails in test mode stops no screening of live mode',
    file: 'packages/screening/src/api/channels.ts',
    guard: 'return livemode ? this.#live : this.#test;',
    instead: 'return this.#live;',
    test: { file: API_TEST, name: 'screens for live mode while test mode has failed, is limited or waits' },
  },
];
