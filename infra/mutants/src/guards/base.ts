import type { Mutant } from '../mutant.ts';

const CHAINS = 'packages/chains';
const src = `${CHAINS}/src/base`;
const paid = `${CHAINS}/test/base/paid.unit.test.ts`;
const nested = `${CHAINS}/test/base/nested/nested.unit.test.ts`;
const calldata = `${CHAINS}/test/base/nested/calldata-references.unit.test.ts`;
const calls = `${CHAINS}/test/base/user-operations/account-calls.unit.test.ts`;
const chain = `${CHAINS}/test/base/smart-accounts.integration.test.ts`;
const undone = `${CHAINS}/test/base/undone.integration.test.ts`;
const property = `${CHAINS}/test/base/property.integration.test.ts`;
const twice = `${CHAINS}/test/base/final-by-two.unit.test.ts`;
const finals = `${CHAINS}/test/hostile/finals-on-base.unit.test.ts`;
const each = `${CHAINS}/test/evm/observe/read-each.unit.test.ts`;
const hostile = `${CHAINS}/test/hostile/base.unit.test.ts`;
const aside = `${CHAINS}/test/hostile/base-set-aside.unit.test.ts`;
const liar = `${CHAINS}/test/hostile/lying-upstream.integration.test.ts`;

const crowds = `${CHAINS}/test/hostile/base-crowds.unit.test.ts`;
const held = `${CHAINS}/test/base/observe/held.unit.test.ts`;
const gained = `${CHAINS}/test/base/gained.unit.test.ts`;

const BESIDE_OTHERS =
  'is confirmed in its usual time beside thousands of payments to another, which are all found later';
const RANDOM =
  'pay an intent what its recipient has gained at most, and only where the account that paid has ordered it';
const OTHER_EVENTS = 'is unknown when the events are those of another operation, account or contract';
const OTHER_NUMBER = 'is unknown when calls and transfers of one kind differ in number';
const TRACED = 'is not ordered when another account, another call or a second transfer of one call made it';

/**
 * What is called paid on Base has arrived, for that intent, as anyone can write our bytes anywhere; and one bad
 * transaction costs no other payment.
 */
export const baseGuards: readonly Mutant[] = [
  {
    name: 'Smart accounts: only the EntryPoint reports the success of an operation',
    file: `${src}/user-operations/bundles.ts`,
    guard: 'log.address === entryPoint && log.topics[0]',
    instead: 'log.topics[0]',
    test: { file: calldata, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: every operation has its event',
    file: `${src}/user-operations/bundles.ts`,
    guard: 'operations === null || ends.length !== operations.length',
    instead: 'operations === null',
    test: { file: calldata, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: an event is of its operation',
    file: `${src}/user-operations/bundles.ts`,
    guard: ' || outcome.sender !== sender || outcome.nonce !== nonce',
    instead: '',
    test: { file: calldata, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: an operation that failed pays nothing',
    file: `${src}/user-operations/bundles.ts`,
    guard: 'if (outcome.success) executions.push',
    instead: 'executions.push',
    test: { file: calldata, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: an operation has only its own logs',
    file: `${src}/user-operations/bundles.ts`,
    guard: 'logs.slice(start, end.place)',
    instead: 'logs',
    test: { file: calldata, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: a transfer is explained by the calls of its own account',
    file: `${src}/nested/calldata-references.ts`,
    guard: 'transfer?.from === account && ',
    instead: 'transfer !== null && ',
    test: { file: calldata, name: OTHER_EVENTS },
  },
  {
    name: 'Smart accounts: one transfer needs one call, so that it never settles two intents',
    file: `${src}/nested/calldata-references.ts`,
    guard: 'if (meant.length !== made.length) continue;',
    instead: '',
    test: { file: calldata, name: OTHER_NUMBER },
  },
  {
    name: 'Smart accounts: only a call of the token is a payment',
    file: `${src}/nested/calldata-references.ts`,
    guard: '`${token} ${to} ${amount}`',
    instead: '`${to} ${amount}`',
    test: { file: calldata, name: 'is only in a call of the very token that logged the transfer' },
  },
  {
    name: 'Smart accounts: calldata counts only where no upstream has any traces',
    file: `${src}/nested/explain.ts`,
    guard: "heard.add(isSoon && error.fault === 'timeout' ? 'late' : saidBy(error));",
    instead: "if (isSoon && error.fault === 'timeout') heard.add('late');",
    test: {
      file: `${CHAINS}/test/base/nested/explain.unit.test.ts`,
      name: 'comes from the calldata where no upstream has any traces, and only there',
    },
  },
  {
    name: 'Base: what a landing has cost is read beside the steps from when it is seen',
    file: `${src}/observe/settlements.ts`,
    guard: 'fees?.begin(unreported.slice(0, most - due.size));',
    instead: '',
    test: {
      file: `${CHAINS}/test/hostile/late-on-base.unit.test.ts`,
      name: 'tells what it has cost where its receipt takes 1.6 s',
    },
  },
  {
    name: 'Smart accounts: a step asks no further upstream for a trace that is late',
    file: `${src}/nested/explain.ts`,
    guard: "if (heard.has('late')) break;",
    instead: '',
    test: {
      file: `${CHAINS}/test/base/nested/explain.unit.test.ts`,
      name: 'is late where no one waits for a trace: neither is anything else asked for, nor another upstream',
    },
  },
  {
    name: 'Smart accounts: a step does not wait for a trace that takes long',
    file: `${src}/observe/nested-payments.ts`,
    guard: 'withTrace(context.pool, explained, suspects, context.late !== undefined)',
    instead: 'withTrace(context.pool, explained, suspects, false)',
    test: {
      file: `${CHAINS}/test/hostile/late-on-base.unit.test.ts`,
      name: 'delays it by less than a second where its trace is never returned by any of 1',
    },
  },
  {
    name: 'Smart accounts: a trace that is late is read beside the steps',
    file: `${src}/observe/nested-payments.ts`,
    guard: 'context.late?.begin(hash, nested.transfers[0]?.log.blockNumber ?? null, true);',
    instead: '',
    test: {
      file: `${CHAINS}/test/hostile/late-on-base.unit.test.ts`,
      name: 'is found by the reading beside, once, where debug_traceTransaction takes 1.6 s',
    },
  },
  {
    name: 'Smart accounts: a trace is of the very logs of the receipt',
    file: `${src}/nested/references.ts`,
    guard: ' || !logs.every((log, place) => isSame(log, made[place] as TracedLog))',
    instead: '',
    test: { file: nested, name: 'is not known from a trace of other logs' },
  },
  {
    name: 'Smart accounts: a traced call is of the account, to the token',
    file: `${src}/nested/references.ts`,
    guard: ' || call.to !== log.address.toLowerCase() || call.from !== from.toLowerCase()',
    instead: '',
    test: { file: nested, name: TRACED },
  },
  {
    name: 'Smart accounts: a traced call pays once',
    file: `${src}/nested/references.ts`,
    guard: 'used.has(call) ? NOT_ORDERED : referenceIn(call, transfer)',
    instead: 'referenceIn(call, transfer)',
    test: { file: nested, name: TRACED },
  },
  {
    name: 'Smart accounts: calls that failed leave nothing',
    file: `${src}/nested/references.ts`,
    guard: 'if (frame.error !== null) return;',
    instead: '',
    test: { file: nested, name: 'ignores calls that failed, and follows the order of calls and logs' },
  },
  {
    name: 'Smart accounts: the calls of one transaction are bounded',
    file: `${src}/user-operations/account-calls.ts`,
    guard: 'return budget.left < 0 ? null : calls;',
    instead: 'return calls;',
    test: { file: calls, name: 'are unknown when there are more than 256, also in calls that repeat each other' },
  },
  {
    name: 'Smart accounts: calls that end too early count, too',
    file: `${src}/user-operations/account-calls.ts`,
    guard: 'budget.left -= 1;',
    instead: '',
    test: { file: calls, name: 'are unknown when more than 256 were read, also in calls that end too early' },
  },
  {
    name: 'Smart accounts: what nothing proves settles no intent',
    file: `${src}/observe/scan.ts`,
    guard: 'isProven ? reference : NO_REFERENCE',
    instead: 'reference',
    test: { file: chain, name: 'is a payment without its reference where no upstream can show a trace' },
  },
  {
    name: 'Smart accounts: a verified submission is not failed for a trace that is missing',
    file: `${src}/observe/scan.ts`,
    guard: ' || (!isProven && isLive)',
    instead: '',
    test: { file: chain, name: 'is waited for where it was verified by a trace that is missing for a while' },
  },
  {
    name: 'Smart accounts: a claim by a bundle is paid by its own operation',
    file: `${src}/observe/receipt.ts`,
    guard: 'transfers.filter(({ log }) => references.get(log.logIndex) === reference)',
    instead: 'transfers',
    test: { file: chain, name: 'is paid by its own operation only, beside others to the same requestor' },
  },
  {
    name: 'Smart accounts: a bundle is dropped by the nonce of its sender',
    file: `${src}/observe/pending-outcomes.ts`,
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
    name: 'Who else claims a reported payment is told for so many intents and no more',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'named.includes(other) || claims >= OTHER_CLAIMS_MAX || intent.erasedAt !== undefined',
    instead: 'named.includes(other)',
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'a reported payment that is claimed for other intents, too names twenty of them at most',
    },
  },
  {
    name: 'A payment that counts is no more claimed for other intents',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'if (isReported(intent, landing)) claimedFor(',
    instead: 'claimedFor(',
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'a reported payment that is claimed for other intents, too is left alone once it pays its intent',
    },
  },
  {
    name: 'A transaction that no node shows takes no other of its reading along',
    file: `${src}/observe/transactions.ts`,
    guard: 'SPLITS, areShort);',
    instead: 'SPLITS, !areShort);',
    test: {
      file: 'packages/chains/test/hostile/late-on-base.unit.test.ts',
      name: 'delays it by less than a second where eth_getTransactionByHash is never returned by any of 1',
    },
  },
  {
    name: 'What is reported as paid without a reference has none, so it is no other intent’s payment',
    file: `${src}/unnamed-payment.ts`,
    guard: 'references.get(log.logIndex) === null',
    instead: 'log.removed === false',
    test: { file: chain, name: 'knows a payment without a reference from one of another intent' },
  },
  {
    name: 'Smart accounts: the fulfiller is the account that paid',
    file: `${CHAINS}/src/verify-landed.ts`,
    guard: 'sender: [fulfiller, from],',
    instead: '',
    test: { file: chain, name: 'pays for each account its own intent, and verifies only for that account' },
  },
  {
    name: 'A paymaster hears of no operation that makes a call beside the payment',
    file: `${src}/paymasters.ts`,
    guard: 'if (only === undefined || another !== undefined)',
    instead: 'if (only === undefined)',
    test: { file: `${CHAINS}/test/base/paymasters.unit.test.ts`, name: 'makes no call beside the payment' },
  },
  {
    name: 'A paymaster hears of no operation that may cost more than 0.001 ETH',
    file: `${src}/paymasters.ts`,
    guard: 'return cost > COST_MAX ?',
    instead: 'return cost < 0n ?',
    test: { file: `${CHAINS}/test/base/paymasters.unit.test.ts`, name: 'may cost 0.001 ETH, with all of its limits' },
  },
  {
    name: 'A paymaster hears of no operation with more gas than a payment takes',
    file: `${src}/paymasters.ts`,
    guard: 'if (asked > allowed)',
    instead: 'if (asked < 0n)',
    test: {
      file: `${CHAINS}/test/base/paymasters.unit.test.ts`,
      name: 'has gas for a payment, and for its deployment',
    },
  },
  {
    name: 'A paymaster hears of no operation at a higher price than we propose',
    file: `${src}/sponsored-operation.ts`,
    guard: 'if (maxFee > most)',
    instead: 'if (maxFee < 0n)',
    test: {
      file: `${CHAINS}/test/base/sponsored-operation.unit.test.ts`,
      name: 'is rejected at a higher price than the chain asks for',
    },
  },
  {
    name: 'A paymaster hears of no operation whose tip is higher than bundlers need',
    file: `${src}/sponsored-operation.ts`,
    guard: 'return now > mostNow',
    instead: 'return now < 0n',
    test: {
      file: `${CHAINS}/test/base/sponsored-operation.unit.test.ts`,
      name: 'is rejected at a higher price than the chain asks for',
    },
  },
  {
    name: 'A paymaster hears of no operation whose simulation does not log the payment',
    file: `${src}/sponsored-operation.ts`,
    guard: 'return isPaid === true ? null :',
    instead: 'return isPaid !== null ? null :',
    test: {
      file: `${CHAINS}/test/base/sponsored-operation.unit.test.ts`,
      name: 'is rejected where the simulation logs another transfer',
    },
  },
  {
    name: 'Smart accounts: what an account has named does not count where something else can have made the transfer',
    file: `${src}/nested/references.ts`,
    guard: 'another !== undefined || makers',
    instead: 'makers',
    test: { file: nested, name: 'is not known where a pull or a call with another reference can have made it too' },
  },
  {
    name: 'Smart accounts: a transfer of which no call is shown is not explained',
    file: `${src}/nested/references.ts`,
    guard: ' || makers.length < alike.length',
    instead: '',
    test: { file: nested, name: 'is not known where fewer calls are shown than there are transfers' },
  },
  {
    name: 'Smart accounts: only the account itself orders its transfers',
    file: `${src}/nested/references.ts`,
    guard: 'caller === from ? decodeTransfer(data) : null',
    instead: 'decodeTransfer(data)',
    test: { file: nested, name: 'is known beside calls that cannot have made it' },
  },
  {
    name: 'Smart accounts: what no upstream can show now is not refused',
    file: `${src}/verify-nested.ts`,
    guard: "if (said !== 'none' && isUnknown",
    instead: "if (said === 'none' && isUnknown",
    test: {
      file: chain,
      name: 'is accepted later where no upstream can show a trace now, and refused with another amount',
    },
  },
  {
    name: 'Base: a submission that is set aside is not dropped',
    file: `${src}/observe/pending-outcomes.ts`,
    guard: '!aside.has(hash) && ',
    instead: '',
    test: {
      file: `${CHAINS}/test/base/dropped.unit.test.ts`,
      name: 'is not dropped while it is set aside, as it has logged a payment whose receipt may be pruned',
    },
  },
  {
    name: 'Base: what may have brought a live authorization is not given up',
    file: `${src}/observe/awaited.ts`,
    guard: 'awaited.add(one.hash);',
    instead: 'void one;',
    test: {
      file: `${CHAINS}/test/base/observe/awaited.unit.test.ts`,
      name: 'is not given up while it may have brought a live authorization, up to three of them',
    },
  },
  {
    name: 'Base: what a reorg has undone is set aside no more',
    file: `${src}/observer.ts`,
    guard: 'setAside: position.setAside.filter(({ place }) => place <= ancestor),',
    instead: '',
    test: { file: chain, name: 'is set aside no more once a reorg has undone it, so that it can be dropped' },
  },
  {
    name: 'Smart accounts: what is too long to be read is no payment for another',
    file: `${src}/observe/nested-payments.ts`,
    guard: 'isUnreadable ? 0 : context.now',
    instead: 'context.now',
    test: { file: undone, name: 'waits with a warning, and is no payment for another, until an upstream can show it' },
  },
  {
    name: 'Base: a second reading does not believe the calldata that the first upstream has shown',
    file: `${src}/observe/scan.ts`,
    guard: 'isDirect(summary, log) ? summary.shownBy === node.name :',
    instead: 'isDirect(summary, log) ||',
    test: { file: liar, name: 'a payment is reported where upstream 0 of two shows it as that of another' },
  },
  {
    name: 'Base: what leaves the account again in the same transaction has not paid',
    file: `${src}/paid.ts`,
    guard: 'Map.groupBy(ofToken.filter(isGain), ({ from }) => from)',
    instead: 'Map.groupBy(ofToken.slice(0, 0), ({ from }) => from)',
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
    guard: 'if (worth === 0n && transfer.amount > 0n && !isLive && failed.length === 0) return [];',
    instead: '',
    test: { file: chain, name: 'pays nothing where the money goes back in the same transaction' },
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
    guard: '(others.length > 0 ? UNPROVEN_OF_SEVERAL_MS : UNPROVEN_MS)',
    instead: '0',
    test: { file: chain, name: 'is a payment without its reference where no upstream can show a trace' },
  },
  {
    name: 'Base: a settlement that a trace disproves is told to the operator',
    file: `${src}/observe/scan.ts`,
    guard: 'const isSettled = isSettledBy(intent, transfer)',
    instead: 'const isSettled = transfer.amount < 0n',
    test: {
      file: `${CHAINS}/test/hostile/disproved-settlement.unit.test.ts`,
      name: 'is told once to the operator when its blocks are read again by an upstream that has',
    },
  },
  {
    name: 'Base: a disproved transfer names also those that other transfers carry',
    file: `${src}/observe/nested-payments.ts`,
    guard: '        ...others,\n      ]);',
    instead: '      ]);',
    test: {
      file: `${CHAINS}/test/hostile/mistaken.unit.test.ts`,
      name: 'are each told as no payment of every intent that they were reported for',
    },
  },
  {
    name: 'a report that was withdrawn is not made again by an observation that comes late',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'isDisproved(intent, landing) && !isLive(intent, hash)',
    instead: 'isDisproved(intent, landing) && false',
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'is not made again by an observation that comes late',
    },
  },
  {
    name: 'Base: what may pay several intents is reported for none before it is explained',
    file: `${src}/observe/nested-payments.ts`,
    guard: '(others.length > 0 ? UNPROVEN_OF_SEVERAL_MS : UNPROVEN_MS)',
    instead: 'UNPROVEN_MS',
    test: {
      file: `${CHAINS}/test/hostile/unproven.unit.test.ts`,
      name: 'is told for no intent while its calldata names several, and then for the one that it pays',
    },
  },
  {
    name: 'Base: what was reported without its reference is looked at again',
    file: `${src}/observe/position.ts`,
    guard: ' || (isUnproven(known) && !isUnproven(one))',
    instead: '',
    test: { file: chain, name: 'is paid once it is traced, also after it was reported without its reference' },
  },
  {
    name: 'Base: what waits to be judged is in the cursor',
    file: `${src}/observer.ts`,
    guard: 'setAside: kept,',
    instead: 'setAside: [],',
    test: { file: chain, name: 'is looked at again after a restart, and after a rewind of the cursor' },
  },
  {
    name: 'Base: nothing is final by one upstream alone, where there are two',
    file: `${src}/observe/settlements.ts`,
    guard: 'isDoubted\n    ? await showTwice(',
    instead: 'isDoubted && standing.length < 0\n    ? await showTwice(',
    test: { file: twice, name: 'waits while the second one may soon respond' },
  },
  {
    name: 'Base: nothing is final by one upstream while the other is unavailable',
    file: `${CHAINS}/src/second-reader.ts`,
    guard: '    { alone: false },\n  );',
    instead: '    { alone: true },\n  );',
    test: { file: twice, name: 'is not final, however long the second one is excluded, and counts as unshown' },
  },
  {
    name: 'Base: no deposit is final by one upstream while the other is unavailable',
    file: `${src}/observe/arrivals.ts`,
    guard: 'isDoubted\n    ? await showTwice(',
    instead: 'isDoubted && standing.length < 0\n    ? await showTwice(',
    test: {
      file: `${CHAINS}/test/base/observe/arrivals.unit.test.ts`,
      name: 'is not final by one, however long the second upstream is down',
    },
  },
  {
    name: 'Base: what no second upstream shows is counted',
    file: `${src}/observe/memory.ts`,
    guard: 'this.unshown.lacked(name, now);',
    instead: '',
    test: { file: twice, name: 'is not final, however long the second one is down, and counts as unshown' },
  },
  {
    name: 'Base: nothing is final that one of two upstreams has seen and shows again',
    file: `${src}/observe/second-showing.ts`,
    guard: 'doubleCheckSoon<One, Shows>(pool, node, null,',
    instead: 'doubleCheckSoon<One, Shows>(pool, node, node.name,',
    test: { file: liar, name: 'a payment is reported where upstream 1 of two shows it as that of another' },
  },
  {
    name: 'Base: a step waits a moment only for what makes payments final',
    file: `${src}/observe/second-showing.ts`,
    guard: 'isSoon: seconds !== undefined',
    instead: 'isSoon: false',
    test: {
      file: finals,
      name: 'is final in its usual time where eth_getTransactionReceipt of [1] takes Infinity ms',
    },
  },
  {
    name: 'Base: what a second upstream has not shown in time is read beside the steps',
    file: `${src}/observe/second-showing.ts`,
    guard: 'memory.unshown.lacked(name(one), now);\n      seconds?.begin(placeOf(one));',
    instead: 'memory.unshown.lacked(name(one), now);',
    test: {
      file: finals,
      name: 'is final in its usual time where eth_getTransactionReceipt of [1] takes 1600 ms',
    },
  },
  {
    name: 'Base: what is read beside the steps to be final is asked for by none',
    file: `${src}/observe/second-showing.ts`,
    guard: 'else if (isLate) seconds?.begin(place);',
    instead: 'else if (isLate) asked.push(one);',
    test: {
      file: finals,
      name: 'is final in its usual time where eth_getTransactionByHash of [1] takes Infinity ms',
    },
  },
  {
    name: 'Base: a trace that makes payments final is waited for a moment only',
    file: `${src}/observe/judge-again.ts`,
    guard: '...(asked.isSoon && { late: noting(late) }),',
    instead: '',
    test: {
      file: finals,
      name: 'is final in its usual time where debug_traceTransaction of [1] takes Infinity ms',
    },
  },
  {
    name: 'Base: what a second upstream shows of a transfer is for one intent',
    file: `${src}/observe/second-showing.ts`,
    guard: ' ${index} ${reference}`',
    instead: ' ${index}`',
    test: {
      file: `${CHAINS}/test/hostile/disproved-settlement.unit.test.ts`,
      name: 'is told to the operator once it is final and the second upstream has traces',
    },
  },
  {
    name: 'Nothing is final by what one upstream alone has shown beside the steps',
    file: `${CHAINS}/src/second-reader.ts`,
    guard: 'isLacking, { alone: false })',
    instead: 'isLacking, { alone: true })',
    test: { file: `${CHAINS}/test/second-reader.unit.test.ts`, name: 'brings nothing by one alone' },
  },
  {
    name: 'That nothing has landed is proven beside the steps where an upstream takes long',
    file: `${CHAINS}/src/evm/observe/absence.ts`,
    guard: 'for (const one of missing.filter(isKnown)) this.#begin(one);',
    instead: '',
    test: { file: finals, name: 'where the second upstream says after 1600 ms that it lacks a submission' },
  },
  {
    name: 'Base: what another upstream shows in the place of a payment is seen',
    file: `${src}/observe/settlements.ts`,
    guard: '.flatMap(({ instead }) => instead)',
    instead: '.flatMap(() => [] as Seen[])',
    test: { file: twice, name: 'is seen for the first time as the payment that the second one shows in its place' },
  },
  {
    name: 'Base: a step does not wait for what is never returned',
    file: `${CHAINS}/src/base/observe/transactions.ts`,
    guard: 'late === undefined ? calls : calls.map(soon)',
    instead: 'calls',
    test: {
      file: `${CHAINS}/test/hostile/late-on-base.unit.test.ts`,
      name: 'delays it by less than a second where eth_getTransactionByHash is never returned by any of 1',
    },
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
    guard: 'all.flatMap((one) => keptLog(one, keeps))',
    instead: 'all.flatMap((one) => keptLog(one, ALL).filter(({ address, topics }) => keeps(address, topics[0])))',
    test: { file: hostile, name: 'are the logs that say what was paid, of 40,000, in little time' },
  },
  {
    name: 'A response is broken off where it is longer than its call allows',
    file: 'packages/rpc/src/json-pieces.ts',
    guard: 'if (this.#total > maxBytes)',
    instead: 'if (this.#total < 0)',
    test: {
      file: 'packages/rpc/test/compression.unit.test.ts',
      name: 'are broken off when they are longer than the call allows: identity',
    },
  },
  {
    name: 'What is set aside takes turns by payer within a recipient’s share',
    file: `${CHAINS}/src/set-aside.ts`,
    guard: 'inTurns(ofOne, ({ party }) => party.payer)',
    instead: 'ofOne',
    test: {
      file: `${CHAINS}/test/set-aside.unit.test.ts`,
      name: 'are due by turns of their recipients, and of the payers within one',
    },
  },
  {
    name: 'Base: a step looks up no more transactions than its share',
    file: `${src}/observe/scan.ts`,
    guard: 'unknown.slice(0, most)',
    instead: 'unknown',
    test: { file: crowds, name: BESIDE_OTHERS },
  },
  {
    name: 'Base: whoever pays one recipient a thousand times delays no other',
    file: `${src}/observe/scan.ts`,
    guard: 'order: (all) => firstByOwners(context.watch, all, 2 * LOOKED_UP_MAX),',
    instead: 'order: (all) => all,',
    test: { file: crowds, name: BESIDE_OTHERS },
  },
  {
    name: 'Base and Tempo: a second reading leaves out nothing that a step could not look up',
    file: 'packages/chains/src/evm/observe/reading.ts',
    guard: 'end: { number: blockNumber - 1n },',
    instead: 'end: { number: blockNumber },',
    test: { file: crowds, name: BESIDE_OTHERS },
  },
  {
    name: 'Base: a cursor holds a bounded number of landings of an intent',
    file: `${src}/observe/held.ts`,
    guard: 'openFirst(byIntent.flatMap((all) => all.slice(0, OF_INTENT_MAX)))',
    instead: 'openFirst(byIntent.flat())',
    test: {
      file: crowds,
      name: 'is confirmed in its usual time behind thousands of specks to its intent, of which few are held',
    },
  },
  {
    name: 'Base: what was submitted is traced only as far as a step has room',
    file: `${src}/observe/pending-outcomes.ts`,
    guard: '!isDirect(receipt, pending.terms) && !memory.room.takeTrace()',
    instead: 'pending.hash.length === 0',
    test: {
      file: crowds,
      name: 'is confirmed in its usual time beside a hundred that were submitted, which are traced a few a step',
    },
  },
  {
    name: 'Base: what a cursor has no room for waits with its transaction',
    file: `${src}/observe/held.ts`,
    guard: '(one.reported ? [] : [partiesOf(one)])',
    instead: '(one.reported ? [partiesOf(one)] : [])',
    test: {
      file: held,
      name: 'begins with what it waits for, then what pays it, then the largest; others wait with their transactions',
    },
  },
  {
    name: 'Base: a cursor has room for each account and payer',
    file: `${src}/observe/held.ts`,
    guard: 'byOwners(watch, open)',
    instead: 'open',
    test: { file: held, name: 'is bounded, by turns of the accounts and of the payers of one recipient' },
  },
  {
    name: 'Smart accounts: the calls of a whole bundle are bounded',
    file: `${src}/nested/calldata-references.ts`,
    guard: 'callsOf(account, calldata, most)',
    instead: 'callsOf(account, calldata, Math.max(most, CALLS_MAX))',
    test: { file: calldata, name: 'is known of 1,024 calls of all operations, of which each has its share' },
  },
  {
    name: 'Base: what a payer reports is worth what the requestor has gained',
    file: `${src}/unnamed-payment.ts`,
    guard: 'recorded(unnamed, NO_REFERENCE, worth)',
    instead: 'recorded(unnamed, NO_REFERENCE)',
    test: {
      file: gained,
      name: 'is told of as what its requestor has gained in its transaction, and not where that is nothing',
    },
  },
  {
    name: 'Smart accounts: what is verified is worth what the requestor has gained',
    file: `${src}/verify-nested.ts`,
    guard: 'amount: worth.get(log.logIndex) ?? 0n,',
    instead: 'amount: worth.get(log.logIndex) === undefined ? 0n : terms.amount,',
    test: { file: gained, name: 'is not verified, and differs in its amount' },
  },
  {
    name: 'What is set aside takes turns by account',
    file: `${CHAINS}/src/set-aside.ts`,
    guard: '({ party }) => ownersIn(watch, party.recipient)',
    instead: '() => [null]',
    test: {
      file: `${CHAINS}/test/set-aside.unit.test.ts`,
      name: 'are not crowded out by those of another account, however many recipients that has',
    },
  },
  {
    name: 'What is set aside bears all whom it may have paid, whatever the last look has shown',
    file: `${CHAINS}/src/set-aside.ts`,
    guard: '...(known === undefined ? [] : partiesOf(known)), ...partiesOf(one)',
    instead: '...partiesOf(one)',
    test: {
      file: `${CHAINS}/test/set-aside.unit.test.ts`,
      name: 'keep 20 parties, of each account one before another of the same, and all that any look has shown',
    },
  },
  {
    name: 'Base: a paid authorization is not dropped because of dust before it',
    file: `${src}/observe/scan.ts`,
    guard: 'ofOne.map((hit) => partyOf(hit.transfer))',
    instead: 'ofOne.slice(0, 1).map((hit) => partyOf(hit.transfer))',
    test: { file: aside, name: 'is not dropped where the transaction is missing' },
  },
  {
    name: 'Base: an authorization whose transaction cannot be read is not dropped because of dust before it',
    file: `${src}/observe/nested-payments.ts`,
    guard: 'reason, ...keptParties(watch, transfers.map(partyOf))',
    instead: 'reason, ...keptParties(watch, transfers.slice(0, 1).map(partyOf))',
    test: { file: aside, name: 'is not dropped: its transfer comes behind dust to another' },
  },
  {
    name: 'Base: an authorization whose money went on at once has failed',
    file: `${src}/observe/scan.ts`,
    guard: 'if (isPaid) return [];',
    instead: 'if (isPaid || worth === 0n) return [];',
    test: {
      file: aside,
      name: 'has failed, and is not dropped, where its payee relays it and sends all of it on at once',
    },
  },
  {
    name: 'Base: what another wallet pays with its reference as nonce fails no authorization',
    file: `${src}/observe/scan.ts`,
    guard: ' || submission.sender !== from) return [];',
    instead: ') return [];',
    test: { file: aside, name: 'is not failed by what another wallet has paid with its reference as nonce' },
  },
  {
    name: 'Base: one upstream’s logs do not prove that an authorization was cancelled',
    file: `${src}/observe/lapsed.ts`,
    guard: 'conclusive && shown.every((logs) => Array.isArray(logs))',
    instead: 'conclusive && shown.some((logs) => Array.isArray(logs))',
    test: {
      file: `${CHAINS}/test/base/observe/lapsed.unit.test.ts`,
      name: 'is not dropped on the word of one upstream: another cannot show those logs',
    },
  },
  {
    name: 'Base: what no node explains is not visible for an hour only',
    file: `${src}/verify-nested.ts`,
    guard: 'head.timestamp - block.timestamp < EXPLAINED_WITHIN_S',
    instead: 'head.timestamp >= block.timestamp',
    test: {
      file: `${CHAINS}/test/base/verify-nested.unit.test.ts`,
      name: 'is not visible for an hour after its block, and then has no reference that is proven',
    },
  },
  {
    name: "An address of the form of chains' own contracts is no wallet",
    file: 'packages/chains/src/evm/address.ts',
    guard: 'SYSTEM.test(parsed.value) ?',
    instead: 'SYSTEM.test(network.name) ?',
    test: {
      file: 'packages/chains/test/evm/address.unit.test.ts',
      name: 'refuses the address 0x8453000000000000000000000000000000000002: their own contracts',
    },
  },
  {
    name: 'The address of a B20 token is no wallet, whether the token is listed or not',
    file: 'packages/chains/src/base/address.ts',
    guard: 'if (B20.test(parsed.value))',
    instead: 'if (B20.test(network.name))',
    test: {
      file: 'packages/chains/test/base/address.unit.test.ts',
      name: 'refuses the address 0xb2000000000000000000002feb517dfec7415344: is the address of a B20 token',
    },
  },
  {
    name: 'A token with other decimals on its chain than in the registry is named',
    file: 'packages/chains/src/token-facts.ts',
    guard: 'holds: decimals === token.decimals,',
    instead: 'holds: decimals !== null,',
    test: {
      file: 'packages/chains/test/token-facts.unit.test.ts',
      name: 'names a wrong decimals: {"decimals":18}',
    },
  },
  {
    name: 'An early look asks for so many recipients, by turns of accounts',
    file: `${CHAINS}/src/evm/observe/early-look.ts`,
    guard: 'inOrder.slice(0, EARLY_MAX)',
    instead: 'inOrder',
    test: {
      file: `${CHAINS}/test/hostile/many-recipients.unit.test.ts`,
      name: 'is seen by a step that asks for few lists of recipients',
    },
  },
];
