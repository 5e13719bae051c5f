import type { Mutant } from '../mutant.ts';

const CHAINS = 'packages/chains';
const authorization = `${CHAINS}/src/base/authorization`;
const unit = `${CHAINS}/test/base/authorization/authorization.unit.test.ts`;
const lapsed = `${CHAINS}/src/base/observe/lapsed.ts`;
const ends = `${CHAINS}/test/base/observe/lapsed.unit.test.ts`;
const chain = `${CHAINS}/test/base/authorization/authorizations.integration.test.ts`;

const uncompared = (name: string, line: string, field: string): Mutant => ({
  name: `Authorizations: ${name}`,
  file: `${authorization}/verify.ts`,
  guard: line,
  instead: '',
  test: { file: unit, name: `differs in the ${field} that is not of its intent` },
});

/** What a payment rests on that its payer has signed, and that anyone may send. */
export const authorizationGuards: readonly Mutant[] = [
  uncompared('the fulfiller', "compare('sender', fulfiller, getAddress(from.toLowerCase()));", 'sender'),
  uncompared('the recipient', "compare('recipient', terms.requestor, getAddress(to.toLowerCase()));", 'recipient'),
  uncompared('the amount', "compare('amount', terms.amount.toString(), value);", 'amount'),
  uncompared('the intent', "compare('reference', terms.reference, nonce.toLowerCase());", 'reference'),
  {
    name: 'Authorizations: the token judges the signature',
    file: `${authorization}/verify.ts`,
    guard: 'if (simulated instanceof RpcRefusedError)',
    instead: 'if (simulated instanceof RpcRefusedError && false)',
    test: {
      file: chain,
      name: 'is refused with the signature of another wallet, contract or chain, or of other times',
    },
  },
  {
    name: 'Authorizations: a claim ends soon',
    file: `${authorization}/verify.ts`,
    guard: 'if (validBefore > latest)',
    instead: 'if (validBefore > latest && false)',
    test: { file: chain, name: 'is refused before its time, after it, or with too long a life' },
  },
  {
    name: 'Authorizations: the domain is the one that the token uses',
    file: `${authorization}/eip3009.ts`,
    guard: "TypedDataEncoder.hashDomain(known) === result('DOMAIN_SEPARATOR', separator) ? known : null",
    instead: 'known',
    test: { file: unit, name: 'is of a token whose name and version make its separator, and of no other' },
  },
  {
    name: 'Authorizations: the transfer is by the token that logged the nonce',
    file: `${CHAINS}/src/base/nested/authorized.ts`,
    guard: 'next.address === address && ',
    instead: '',
    test: { file: unit, name: 'is not found in another token' },
  },
  {
    name: 'Authorizations: the transfer is of the wallet that signed',
    file: `${CHAINS}/src/base/nested/authorized.ts`,
    guard: 'next.topics[1] === authorizer && ',
    instead: '',
    test: { file: unit, name: 'is not found in another wallet' },
  },
  {
    name: 'Authorizations: their transfer is no effect of another call, so that it never settles two intents',
    file: `${CHAINS}/src/base/nested/references.ts`,
    guard: 'authorized.has(log.logIndex) ? [] : (readTransfer(log) ?? [])',
    instead: 'readTransfer(log) ?? []',
    test: {
      file: `${CHAINS}/test/base/nested/nested.unit.test.ts`,
      name: 'is not taken from an authorization, whose transfer no call of the account has made',
    },
  },
  {
    name: 'Authorizations: a claim does not end while its payment waits to be reported',
    file: lapsed,
    guard: 'claims.filter(({ intentId }) => !waiting.has(intentId))',
    instead: 'claims',
    test: { file: ends, name: 'is not dropped while something that was seen of its intent waits to be reported' },
  },
  {
    name: 'Authorizations: a claim ends after every transfer was read',
    file: lapsed,
    guard: 'if (rescanned < safe.number) return [];',
    instead: '',
    test: { file: ends, name: 'is not dropped before every transfer up to the safe block was read a second time' },
  },
  {
    name: 'Authorizations: a claim ends by the time of a safe block, not earlier',
    file: lapsed,
    guard: 'lifetime.validBefore <= timestamp',
    instead: 'lifetime.validBefore <= timestamp + 1n',
    test: { file: ends, name: 'is not dropped a second before its time, while its nonce is unused' },
  },
  {
    name: 'Authorizations: no claim ends by the word of one upstream',
    file: lapsed,
    guard: 'if (!isOverEverywhere && !isUsedEverywhere) return [];',
    instead: '',
    test: { file: ends, name: 'is not dropped on the word of one upstream: another has an unused nonce' },
  },
  {
    name: 'Authorizations: what could not be read proves no lapse',
    file: lapsed,
    guard: 'if (suspects.some((suspect) => wasUsedBy(memory, claim, suspect) !== false)) return [];',
    instead: '',
    test: { file: ends, name: 'is judged by what the token says: it is not dropped while that may have used it' },
  },
  {
    name: 'Base: a settlement is final with the reference that a second upstream shows',
    file: `${CHAINS}/src/base/observe/judge-again.ts`,
    guard: 'one.transfer.reference === transfer.reference &&',
    instead: '',
    test: {
      file: `${CHAINS}/test/base/observer.integration.test.ts`,
      name: 'makes nothing final for the reference that only one of two upstreams shows behind a transfer',
    },
  },
  {
    name: 'Authorizations: all upstreams speak of one block',
    file: lapsed,
    guard: ' || responses.some(([block]) => block?.hash !== safe.hash)',
    instead: '',
    test: { file: ends, name: 'is not dropped on the word of one upstream: another has another block' },
  },
  {
    name: 'Authorizations: no claim ends while an upstream is missing',
    file: lapsed,
    guard: '!conclusive || ',
    instead: '',
    test: { file: ends, name: 'is not dropped while an upstream that was configured does not respond' },
  },
  {
    name: 'Authorizations: their wallet gets no transaction beside one that can still move money (writer)',
    file: 'packages/domain/src/decide/building.ts',
    guard: ' && !isAuthorization(live)',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/authorizations.unit.test.ts',
      name: 'keeps its own wallet from a transaction beside it, also from one that was built before',
    },
  },
  {
    name: 'Authorizations: their wallet gets no transaction beside one that can still move money (gateway)',
    file: 'services/gateway/src/intents/build.ts',
    guard: 'isAuthorization(live) || ',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'claims the intent, also against the transaction that its wallet has built before',
    },
  },
  {
    name: 'Authorizations: none is broadcast as a transaction',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'if (isAuthorization(submission)) continue;',
    instead: '',
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'broadcasts no authorization, which whoever pays the gas sends',
    },
  },
];
