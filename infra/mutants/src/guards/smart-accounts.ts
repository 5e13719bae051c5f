import type { Mutant } from '../mutant.ts';

const CHAINS = 'packages/chains';
const nested = `${CHAINS}/src/base/nested`;
const unit = `${CHAINS}/test/base/nested/nested.unit.test.ts`;
const chain = `${CHAINS}/test/base/smart-accounts.integration.test.ts`;

const OTHER_EVENTS = 'is unknown when the events are those of another operation, account or contract';
const OTHER_NUMBER = 'is unknown when calls and transfers of one kind differ in number';
const TRACED = 'is not ordered when another account, another call or a second transfer of one call made it';

/** What a smart account's payment rests on: anyone can write our bytes anywhere. */
export const smartAccountGuards: readonly Mutant[] = [
  {
    name: 'Smart accounts: only the EntryPoint reports the success of an operation',
    file: `${nested}/user-operations.ts`,
    guard: 'log.address === entryPoint && log.topics[0]',
    instead: 'log.topics[0]',
    test: { file: unit, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: every operation has its event',
    file: `${nested}/user-operations.ts`,
    guard: 'operations === null || ends.length !== operations.length',
    instead: 'operations === null',
    test: { file: unit, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: an event is of its operation',
    file: `${nested}/user-operations.ts`,
    guard: ' || outcome.sender !== sender || outcome.nonce !== nonce',
    instead: '',
    test: { file: unit, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: an operation that failed pays nothing',
    file: `${nested}/user-operations.ts`,
    guard: 'if (outcome.success) executions.push',
    instead: 'executions.push',
    test: { file: unit, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: an operation has only its own logs',
    file: `${nested}/user-operations.ts`,
    guard: 'logs.slice(start, end.place)',
    instead: 'logs',
    test: { file: unit, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: a transfer is explained by the calls of its own account',
    file: `${nested}/references.ts`,
    guard: 'transfer?.from === account && ',
    instead: 'transfer !== null && ',
    test: { file: unit, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: one transfer needs one call, so that it never settles two intents',
    file: `${nested}/references.ts`,
    guard: 'if (meant.length !== made.length) continue;',
    instead: '',
    test: { file: unit, name: OTHER_NUMBER },
  },
  {
    name: 'Smart accounts: only a call of the token is a payment',
    file: `${nested}/references.ts`,
    guard: '`${token} ${to} ${amount}`',
    instead: '`${to} ${amount}`',
    test: { file: unit, name: 'is only in a call of the very token that logged the transfer' },
  },
  {
    name: 'Smart accounts: a trace is of the very logs of the receipt',
    file: `${nested}/references.ts`,
    guard: ' || !logs.every((log, place) => isSame(log, made[place] as TracedLog))',
    instead: '',
    test: { file: unit, name: 'is not known from a trace of other logs' },
  },
  {
    name: 'Smart accounts: a traced call is of the account, to the token',
    file: `${nested}/references.ts`,
    guard: ' || call.to !== log.address.toLowerCase() || call.from !== from.toLowerCase()',
    instead: '',
    test: { file: unit, name: TRACED },
  },
  {
    name: 'Smart accounts: a traced call pays once',
    file: `${nested}/references.ts`,
    guard: 'used.has(call) ? NOT_ORDERED : referenceIn(call, transfer)',
    instead: 'referenceIn(call, transfer)',
    test: { file: unit, name: TRACED },
  },
  {
    name: 'Smart accounts: calls that failed leave nothing',
    file: `${nested}/references.ts`,
    guard: 'if (frame.error !== null) return;',
    instead: '',
    test: { file: unit, name: 'ignores calls that failed, and follows the order of calls and logs' },
  },
  {
    name: 'Smart accounts: the calls of one transaction are bounded',
    file: `${nested}/account-calls.ts`,
    guard: 'return budget.left < 0 ? null : calls;',
    instead: 'return calls;',
    test: { file: unit, name: 'are unknown when there are more than 256, also in calls that repeat each other' },
  },
  {
    name: 'Smart accounts: what nothing proves settles no intent',
    file: `${CHAINS}/src/base/observe/scan.ts`,
    guard: 'isProven ? reference : NO_REFERENCE',
    instead: 'reference',
    test: { file: chain, name: 'is a payment without its reference where no upstream has traces' },
  },
  {
    name: 'Smart accounts: a verified submission is not failed for a trace that is missing',
    file: `${CHAINS}/src/base/observe/scan.ts`,
    guard: ' || (!isProven && isLive)',
    instead: '',
    test: { file: chain, name: 'is waited for where it was verified by a trace that is missing for a while' },
  },
  {
    name: 'Smart accounts: a claim by a bundle is paid by its own operation',
    file: `${CHAINS}/src/base/observe/receipt.ts`,
    guard: 'transfers.filter(({ log }) => references.get(log.logIndex) === reference)',
    instead: 'transfers',
    test: { file: chain, name: 'is paid by its own operation only, beside others to the same requestor' },
  },
  {
    name: 'Smart accounts: a bundle is dropped by the nonce of its sender',
    file: `${CHAINS}/src/base/observe/pending-outcomes.ts`,
    guard: '{ ...pending, sender: sent.from, nonce: sent.nonce }',
    instead: '{ ...pending, nonce: sent.nonce }',
    test: {
      file: chain,
      name: 'is dropped once the bundler has used its nonce otherwise, also by the stored bytes alone',
    },
  },
  {
    name: 'A transfer that a payer reports settles nothing',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "const isClaim = differs.includes('reference') && !isTold;",
    instead: "const isClaim = false; landed(intent, { ...landing, level: 'confirmed' }, draft);",
    test: {
      file: 'packages/domain/test/lifecycle/lifecycle-table.unit.test.ts',
      name: "report_transfer of an intent that is created changes nothing if it has the intent's reference",
    },
  },
  {
    name: 'What is reported as paid without a reference has none, so it is no other intent’s payment',
    file: `${CHAINS}/src/base/unnamed-payment.ts`,
    guard: 'references.get(log.logIndex) === null',
    instead: 'log.removed === false',
    test: { file: chain, name: 'knows a payment without a reference from one of another intent' },
  },
  {
    name: 'Smart accounts: the fulfiller is the account that paid',
    file: `${CHAINS}/src/base/verify-nested.ts`,
    guard: 'sender: [fulfiller, from],',
    instead: '',
    test: { file: chain, name: 'pays for each account its own intent, and verifies only for that account' },
  },
  {
    name: 'A paymaster hears of no operation that makes a call beside the payment',
    file: `${CHAINS}/src/base/paymasters.ts`,
    guard: 'if (only === undefined || another !== undefined)',
    instead: 'if (only === undefined)',
    test: { file: `${CHAINS}/test/base/paymasters.unit.test.ts`, name: 'makes no call beside the payment' },
  },
  {
    name: 'A paymaster hears of no operation that may cost more than 0.001 ETH',
    file: `${CHAINS}/src/base/paymasters.ts`,
    guard: 'return cost > COST_MAX ?',
    instead: 'return cost < 0n ?',
    test: { file: `${CHAINS}/test/base/paymasters.unit.test.ts`, name: 'may cost 0.001 ETH, with all of its limits' },
  },
  {
    name: 'A paymaster hears of no operation with more gas than a payment takes',
    file: `${CHAINS}/src/base/paymasters.ts`,
    guard: 'if (asked > allowed)',
    instead: 'if (asked < 0n)',
    test: {
      file: `${CHAINS}/test/base/paymasters.unit.test.ts`,
      name: 'has gas for a payment, and for its deployment',
    },
  },
  {
    name: 'A paymaster hears of no operation at a higher price than we propose',
    file: `${CHAINS}/src/base/sponsored-operation.ts`,
    guard: 'if (maxFee > most)',
    instead: 'if (maxFee < 0n)',
    test: {
      file: `${CHAINS}/test/base/sponsored-operation.unit.test.ts`,
      name: 'is rejected at a higher price than the chain asks for',
    },
  },
  {
    name: 'A paymaster hears of no operation whose tip is higher than bundlers need',
    file: `${CHAINS}/src/base/sponsored-operation.ts`,
    guard: 'return now > mostNow',
    instead: 'return now < 0n',
    test: {
      file: `${CHAINS}/test/base/sponsored-operation.unit.test.ts`,
      name: 'is rejected at a higher price than the chain asks for',
    },
  },
  {
    name: 'A paymaster hears of no operation whose simulation does not log the payment',
    file: `${CHAINS}/src/base/sponsored-operation.ts`,
    guard: 'return isPaid === true ? null :',
    instead: 'return isPaid !== null ? null :',
    test: {
      file: `${CHAINS}/test/base/sponsored-operation.unit.test.ts`,
      name: 'is rejected where the simulation logs another transfer',
    },
  },
];
