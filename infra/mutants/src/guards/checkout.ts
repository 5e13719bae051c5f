import type { Mutant } from '../mutant.ts';

/** Guards of the page on which people pay. */
export const checkoutGuards: readonly Mutant[] = [
  {
    name: 'Only code 4001 of a wallet is a refusal of the person',
    file: 'services/checkout/web/src/wallets/wallet.ts',
    guard: "if (code === CODES.rejected) return new Problem('declined', { wallet }, { cause });",
    instead: "if (/reject|denied|declin|cancel/i.test(reason)) return new Problem('declined', { wallet }, { cause });",
    test: {
      file: 'services/checkout/web/test/pay/status.unit.test.ts',
      name: 'proves that nothing was sent by its code 4001 alone, not by its words',
    },
  },
  {
    name: 'What a wallet has sent is not forgotten when the service refuses it',
    file: 'services/checkout/web/src/pay/money.ts',
    guard: "if (stage === 'handed') return without(money, (attempt) => attempt.id === id);",
    instead: 'return without(money, (attempt) => attempt.id === id);',
    test: {
      file: 'services/checkout/web/test/pay/money.unit.test.ts',
      name: 'is true in every walk of wallets that do and say whatever they like',
    },
  },
  {
    name: 'What a smart wallet says of calls that have failed is no proof, nor are they under way',
    file: 'services/checkout/web/src/pay/money.ts',
    guard: "given_up: 'unknown',",
    instead: "given_up: 'out',",
    test: {
      file: 'services/checkout/web/test/pay/money.unit.test.ts',
      name: 'is true in every walk of wallets that do and say whatever they like',
    },
  },
  {
    name: 'Whoever may have paid is told so before the page offers to pay again',
    file: 'services/checkout/web/src/pay/status.ts',
    guard: 'if (isGuarded(money) && !isConfirming) return told;',
    instead: 'if (isConfirming) return told;',
    test: {
      file: 'services/checkout/web/test/pay/money.unit.test.ts',
      name: 'is true in every walk of wallets that do and say whatever they like',
    },
  },
  {
    name: 'Of the checkout the gateway gets only the client secret of the intent in the path',
    file: 'services/checkout/src/ids.ts',
    guard: "if (id === request.params['id']) return authorization;",
    instead: "if (secret !== '') return authorization;",
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'needs the client secret of its own intent: nothing else is passed on',
    },
  },
  {
    name: 'No stored origin adds to the policy of a page',
    file: 'services/checkout/src/page.ts',
    guard: 'const ancestors = merchant?.returnOrigins.filter((origin) => ORIGIN.test(origin)) ?? [];',
    instead: 'const ancestors = merchant?.returnOrigins ?? [];',
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'lets no stored origin add to its policy',
    },
  },
  {
    name: 'A page is framed by the sites of its own account only',
    file: 'services/checkout/src/page.ts',
    guard: "'frame-ancestors': ancestors.length > 0 ? ancestors.join(' ') : \"'none'\",",
    instead: "'frame-ancestors': ancestors.length > 0 ? ancestors.join(' ') : '*',",
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'may be framed by the sites of its own account only, and by none without any',
    },
  },
  {
    name: 'Of the files of the checkout only the script for sounds may compile functions',
    file: 'services/checkout/src/page.ts',
    guard: 'pathname === SOUND_SCRIPT ? SOUND_POLICY',
    instead: "pathname !== '/' ? SOUND_POLICY",
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'lets only one file compile functions, the script for sounds',
    },
  },
  {
    name: 'The name of a merchant is text in the page without scripts',
    file: 'services/checkout/src/html.ts',
    guard: '[escaped(value)]',
    instead: '[value]',
    test: {
      file: 'services/checkout/test/plain.integration.test.ts',
      name: 'executes no script in a merchant’s name',
    },
  },
  {
    name: 'An address has its share of the streams of the checkout',
    file: 'services/checkout/src/limits.ts',
    guard: 'slotsOfAddress(ip, this.#times(ADDRESS[what]),',
    instead: 'slotsOfAddress(ip, CAPACITY[what],',
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'bound its streams, of which none is opened at the gateway for it then',
    },
  },
  {
    name: 'A merchant has its share of the requests of the checkout',
    file: 'services/checkout/src/limits.ts',
    guard: 'CAPACITY[what] * MERCHANT_SHARE[what]',
    instead: 'CAPACITY[what]',
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'bound its requests under way, which take no place of its submits, nor of another merchant’s',
    },
  },
  {
    name: 'Submits take no place of other requests at the checkout',
    file: 'services/checkout/src/forwarding.ts',
    guard: "OPERATIONS.submitIntent.id ? 'submits'",
    instead: "OPERATIONS.submitIntent.id ? 'requests'",
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'bound its submits under way, which take no place of other requests',
    },
  },
  {
    name: 'Builds take no place of other requests at the checkout',
    file: 'services/checkout/src/forwarding.ts',
    guard: "OPERATIONS.buildIntent.id) return 'builds';",
    instead: "OPERATIONS.buildIntent.id) return 'requests';",
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'bound its builds under way, which take no place of other requests, nor of another merchant’s',
    },
  },
  {
    name: 'Whoever has nothing under way has a place at the checkout that strangers have filled',
    file: 'services/checkout/src/limits.ts',
    guard: 'const release = isFull ? this.#takeReserve(ip, what) : place;',
    instead: 'const release = place;',
    test: {
      file: 'services/checkout/test/limits.unit.test.ts',
      name: 'have a reserve that ends, and of which a /48 of IPv6 has one place',
    },
  },
  {
    name: 'Other requests take no place of submits at the checkout',
    file: 'services/checkout/src/limits.ts',
    guard: '`${what} of ${await owner()}`',
    instead: '`of ${await owner()}`',
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'bound its requests under way, which take no place of its submits, nor of another merchant’s',
    },
  },
  {
    name: 'The page shows a token by no other name than its own',
    file: 'services/checkout/web/src/check/terms.ts',
    guard: '|| !isCalled(token, intent.token)) return null;',
    instead: '|| isCalled(token, intent.chain)) return null;',
    test: {
      file: 'services/checkout/web/test/check/terms.unit.test.ts',
      name: 'are refused where the symbol is not in the registry',
    },
  },
  {
    name: 'The host of the payment page leads to no page that an account has chosen',
    file: 'services/checkout/src/logo.ts',
    guard: "if (!FOR_IMAGES.has(request.get('sec-fetch-dest'))) throw unknownIntent();",
    instead: '',
    test: {
      file: 'services/checkout/test/checkout.integration.test.ts',
      name: 'leads no page to where the account has it',
    },
  },
];
