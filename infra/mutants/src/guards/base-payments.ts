import type { Mutant } from '../mutant.ts';

const CHAINS = 'packages/chains';
const src = `${CHAINS}/src/base`;
const paid = `${CHAINS}/test/base/paid.unit.test.ts`;
const nested = `${CHAINS}/test/base/nested/nested.unit.test.ts`;
const chain = `${CHAINS}/test/base/smart-accounts.integration.test.ts`;
const property = `${CHAINS}/test/base/property.integration.test.ts`;
const twice = `${CHAINS}/test/base/final-by-two.unit.test.ts`;
const each = `${CHAINS}/test/evm/observe/read-each.unit.test.ts`;
const hostile = `${CHAINS}/test/hostile/base.unit.test.ts`;

const RANDOM =
  'pay an intent what its recipient has gained at most, and only where the account that paid has ordered it';

/** What is called paid on Base has arrived, and one bad transaction costs no other payment. */
export const basePaymentGuards: readonly Mutant[] = [
  {
    name: 'Base: what leaves the account again in the same transaction has not paid',
    file: `${src}/paid.ts`,
    guard: 'isGain(one) && one.from === account',
    instead: 'isGain(one) && one.from === account && one.to === account',
    test: { file: paid, name: 'is one amount where one amount goes round for three intents' },
  },
  {
    name: 'Base: random transactions never pay more than arrives',
    file: `${src}/paid.ts`,
    guard: 'const debited = sumOf(out);',
    instead: 'const debited = sumOf(out) * 0n;',
    test: { file: property, name: RANDOM },
  },
  {
    name: 'Base: an account that pays itself has not gained',
    file: `${src}/paid.ts`,
    guard: 'Map.groupBy(ofToken.filter(isGain), ({ to }) => to)',
    instead: 'Map.groupBy(ofToken, ({ to }) => to)',
    test: { file: paid, name: 'is nothing where an account pays itself' },
  },
  {
    name: 'Base: one token does not make good what another took away',
    file: `${src}/paid.ts`,
    guard: 'Map.groupBy(once, ({ log }) => log.address)',
    instead: "Map.groupBy(once, () => '')",
    test: { file: paid, name: 'is not made good by another token, nor by what was there before' },
  },
  {
    name: 'Base: a log counts once',
    file: `${src}/paid.ts`,
    guard: '[...new Map(transfers.map((transfer) => [transfer.log.logIndex, transfer])).values()]',
    instead: 'transfers',
    test: { file: paid, name: 'counts a log once, however often a node repeats it' },
  },
  {
    name: 'Base: a payment of which nothing is left is none',
    file: `${src}/observe/scan.ts`,
    guard: 'if (worth === 0n && transfer.amount > 0n && !isLive) return [];',
    instead: '',
    test: { file: chain, name: 'pays nothing where the money goes back in the same transaction' },
  },
  {
    name: 'Base: what another account sends to a contract does not say what that does',
    file: `${src}/nested/references.ts`,
    guard: 'return from === to ?',
    instead: 'return from !== null ?',
    test: { file: nested, name: 'is not in what another account sends to it: that does not say what its code does' },
  },
  {
    name: 'Base: random calldata of strangers names no payment of a contract',
    file: `${src}/nested/references.ts`,
    guard: 'return from === to ?',
    instead: 'return from !== null ?',
    test: { file: chain, name: 'is judged by what it does, not by the calldata that a stranger has sent to it' },
  },
  {
    name: 'Base: a trace counts before calldata',
    file: `${src}/nested/explain.ts`,
    guard: 'new Map([...before, ...traced, ...authorizedIn(transaction.logs)])',
    instead: 'new Map([...traced, ...before, ...authorizedIn(transaction.logs)])',
    test: { file: `${CHAINS}/test/base/nested/explain.unit.test.ts`, name: 'counts before what calldata says' },
  },
  {
    name: 'Base: what a spender has pulled from a wallet is not told as that wallet’s payment',
    file: `${src}/nested/references.ts`,
    guard:
      "if (call.type !== 'CALL' || call.to !== log.address.toLowerCase() || call.from !== from.toLowerCase())\n" +
      '    return NOT_ORDERED;',
    instead:
      "if (call.type !== 'CALL' || call.to !== log.address.toLowerCase() || call.from !== from.toLowerCase())\n" +
      '    return null;',
    test: { file: chain, name: 'is not told as the payment of a wallet from which a spender has pulled it' },
  },
  {
    name: 'Base: a payment without a reference is judged once it is in a block',
    file: `${src}/adapter.ts`,
    guard: ' || isUnnamed(transaction)',
    instead: '',
    test: { file: chain, name: 'is not visible before it is in a block, as only then it can be told' },
  },
  {
    name: 'Base: what no upstream can trace now is not judged',
    file: `${src}/observe/nested-payments.ts`,
    guard: 'since !== undefined && context.now - since >= UNPROVEN_MS',
    instead: 'since !== null',
    test: { file: chain, name: 'is a payment without its reference where no upstream has traces' },
  },
  {
    name: 'Base: what was reported without its reference is looked at again',
    file: `${src}/observe/position.ts`,
    guard: 'else if (isUnproven(known) && !isUnproven(one)) all[place] = one;',
    instead: '',
    test: { file: chain, name: 'is paid once it is traced, also after it was reported without its reference' },
  },
  {
    name: 'Base: what waits to be judged is in the cursor',
    file: `${src}/observer.ts`,
    guard: 'setAside: [...waiting.kept],',
    instead: 'setAside: [],',
    test: { file: chain, name: 'is looked at again after a restart, and after a rewind of the cursor' },
  },
  {
    name: 'Base: nothing is final by one upstream alone, where there are two',
    file: `${src}/observe/settlements.ts`,
    guard: 'isDoubted ? await showTwice(context, standing) : { shown: standing, warnings: [] }',
    instead: '{ shown: standing, warnings: [] as string[] }',
    test: { file: twice, name: 'waits while the second one may soon respond' },
  },
  {
    name: 'Base: a result of an unknown shape takes no other along',
    file: `${CHAINS}/src/evm/observe/read-each.ts`,
    guard: 'return await node.batch(calls.map(readable));',
    instead: 'return await node.batch([...calls]);',
    test: { file: each, name: 'do not fail for one whose result has another shape' },
  },
  {
    name: 'Base: receipts that strangers have made long are bounded',
    file: `${CHAINS}/src/evm/calls.ts`,
    guard: 'all.flatMap((one) => {',
    instead: 'logFields.array().parse(all).flatMap((one: unknown) => {',
    test: { file: hostile, name: 'are the logs that say what was paid, of 40,000, in little time' },
  },
  {
    name: 'A response is broken off where it is longer than its call allows',
    file: 'packages/rpc/src/transport.ts',
    guard: 'if (length > maxBytes)',
    instead: 'if (length < 0)',
    test: {
      file: 'packages/rpc/test/compression.unit.test.ts',
      name: 'are broken off when they are longer than the call allows: identity',
    },
  },
  {
    name: 'What is set aside takes turns by payer within a recipient’s share',
    file: `${CHAINS}/src/set-aside.ts`,
    guard: 'inTurns(ofOne, ({ payer }) => payer)',
    instead: 'ofOne',
    test: {
      file: `${CHAINS}/test/set-aside.unit.test.ts`,
      name: 'are due by turns of their recipients, and of the payers within one',
    },
  },
];
