import type { Mutant } from '../mutant.ts';

const LANDINGS = 'packages/chains/src/tempo/observe/landings.ts';
const SCAN = 'packages/chains/src/tempo/observe/scan.ts';
const RECEIPTS = 'packages/chains/src/tempo/observe/receipts.ts';
const SECOND = 'packages/chains/src/tempo/observe/second-showing.ts';
const LANDINGS_TEST = 'packages/chains/test/tempo/observe/landings.unit.test.ts';
const SECOND_TEST = 'packages/chains/test/tempo/observe/second-showing.unit.test.ts';
const FINALS_TEST = 'packages/chains/test/hostile/finals-on-tempo.unit.test.ts';
const OBSERVER_TEST = 'packages/chains/test/tempo/observer.integration.test.ts';
const SPAM_TEST = 'packages/chains/test/hostile/tempo-spam.integration.test.ts';
const HOSTILE_TEST = 'packages/chains/test/hostile/tempo.integration.test.ts';
const ARRIVALS = 'packages/chains/src/tempo/observe/arrivals.ts';
const REPORTS = 'packages/chains/src/tempo/observe/arrival-reports.ts';
const ARRIVALS_TEST = 'packages/chains/test/tempo/observe/arrivals.unit.test.ts';
const REPORTS_TEST = 'packages/chains/test/tempo/observe/arrival-reports.unit.test.ts';
const DEPOSITS_TEST = 'packages/chains/test/tempo/arrivals.integration.test.ts';

/** What is called paid on Tempo has arrived, by the word of two, and nothing stops a step. */
export const tempoGuards: readonly Mutant[] = [
  {
    name: 'Tempo: what an account pays out makes its payments worth less',
    file: LANDINGS,
    guard: 'if (log !== fee?.log) accountOf(token, from).debited += amount;',
    instead: '',
    test: { file: LANDINGS_TEST, name: 'are worth together what the account has gained, however often' },
  },
  {
    name: 'Tempo: the fee that an account pays is no part of what it gets',
    file: LANDINGS,
    guard: 'if (log !== fee?.log) accountOf',
    instead: 'accountOf',
    test: { file: LANDINGS_TEST, name: 'are whole where the account that is paid pays the fee' },
  },
  {
    name: 'Tempo: a last log that pays another than the fee manager is no fee',
    file: LANDINGS,
    guard: 'move?.to === FEE_MANAGER && isToken(move.log.address)',
    instead: 'move !== null && isToken(move.log.address)',
    test: { file: LANDINGS_TEST, name: 'is not known where the last log is another' },
  },
  {
    name: 'Tempo: a last log of a contract that is no token is no fee',
    file: LANDINGS,
    guard: 'move?.to === FEE_MANAGER && isToken(move.log.address)',
    instead: 'move?.to === FEE_MANAGER',
    test: { file: LANDINGS_TEST, name: 'is not known where a contract that is no token has written the last log' },
  },
  {
    name: 'Tempo: a Transfer is the money of one payment',
    file: LANDINGS,
    guard: 'money !== null && !claims.has(money)',
    instead: 'money !== null',
    test: { file: LANDINGS_TEST, name: 'need a Transfer to the guard each' },
  },
  {
    name: 'Tempo: a memo is of the Transfer that was logged right before it',
    file: LANDINGS,
    guard: 'if (same.log.logIndex + 1n !== claim.log.logIndex) return null;',
    instead: '',
    test: { file: LANDINGS_TEST, name: 'belong to the Transfer right before their memo' },
  },
  {
    name: 'Tempo: a memo has the sender and the recipient of its Transfer',
    file: LANDINGS,
    guard: 'if (!isOf(same) || same.from !== claim.from || same.to !== claim.to) return null;',
    instead: 'if (!isOf(same)) return null;',
    test: { file: LANDINGS_TEST, name: 'belong to the Transfer right before their memo' },
  },
  {
    name: 'Tempo: what a virtual address is paid counts where the next Transfer forwards it',
    file: LANDINGS,
    guard: 'isOf(next) && next.from === claim.to && next.to !== GUARD',
    instead: 'isOf(next) && next.from === claim.to',
    test: { file: LANDINGS_TEST, name: 'count one forward of a virtual address for one memo' },
  },
  {
    name: 'Tempo: what is kept back has gone to the guard',
    file: LANDINGS,
    guard: 'return isOf(before) && before.to === GUARD ? before : null;',
    instead: 'return isOf(before) ? before : null;',
    test: { file: LANDINGS_TEST, name: 'are empty for failed, uncredited, foreign-token and unreadable transfers' },
  },
  {
    name: 'Tempo: no topic of a log makes its reader throw',
    file: LANDINGS,
    guard: 'topic?.length === 66 ?',
    instead: 'topic !== null ?',
    test: { file: LANDINGS_TEST, name: 'is not known where the last log is another' },
  },
  {
    name: 'Tempo: no data of a log makes its reader throw',
    file: LANDINGS,
    guard: 'data.length === 66 ? BigInt(data) : null',
    instead: 'BigInt(data)',
    test: { file: LANDINGS_TEST, name: 'none makes the reader throw' },
  },
  {
    name: 'Tempo: nothing is final by the word of one upstream where there are two',
    file: SCAN,
    guard: "level: verdict === 'same' ? 'finalized' : 'confirmed',",
    instead: "level: 'finalized',",
    test: { file: OBSERVER_TEST, name: 'reports a payment as confirmed while the other does not have its block' },
  },
  {
    name: 'Tempo: a payment that another upstream denies is not reported',
    file: SECOND,
    guard: '(said.result === null && !said.hasBlock)',
    instead: 'said.result === null',
    test: { file: OBSERVER_TEST, name: 'believes no payment that only one of them has made up' },
  },
  {
    name: 'Tempo: nothing is final by one upstream while the other is unavailable',
    file: 'packages/chains/src/second-reader.ts',
    guard: '    { alone: false },\n  );',
    instead: '    { alone: true },\n  );',
    test: { file: SECOND_TEST, name: 'a second showing is awaited however long the second upstream is excluded' },
  },
  {
    name: 'Tempo: a step waits a moment only for what makes payments final',
    file: SECOND,
    guard: 'await (seconds === undefined\n',
    instead: 'await (seconds === undefined || true\n',
    test: { file: FINALS_TEST, name: 'is final within a second of its usual time where that takes Infinity ms' },
  },
  {
    name: 'Tempo: what there was no time to ask for is due as before',
    file: 'packages/chains/src/tempo/observe/finality.ts',
    guard: 'if (notAsked.has(hash)) continue;',
    instead: '',
    test: { file: FINALS_TEST, name: 'becomes final soon where others are late in every step for the first time' },
  },
  {
    name: 'Tempo: what a second upstream has not shown in time is read beside the steps',
    file: SECOND,
    guard: 'if (late.has(one)) begin(one);',
    instead: 'if (late.size < 0) begin(one);',
    test: { file: FINALS_TEST, name: 'is final within a second of its usual time where that takes 1600 ms' },
  },
  {
    name: 'Tempo: what is read beside the steps counts by another upstream than the first',
    file: SECOND,
    guard: '.find(({ by }) => by !== one.by)',
    instead: '.at(0)',
    test: {
      file: SECOND_TEST,
      name: 'a second showing that was read beside the steps is of another upstream than the first',
    },
  },
  {
    name: 'Tempo: what a second upstream has shown proves nothing but that',
    file: SECOND,
    guard: 'proven.get(hash) === digestOf(receipt, network)',
    instead: 'proven.has(hash)',
    test: { file: SECOND_TEST, name: 'proves no other receipt of the same transaction' },
  },
  {
    name: 'Tempo: a receipt is of the block of its log',
    file: SCAN,
    guard: "found.receipt.blockHash === log.blockHash ? null : 'its receipt is of another block than its log'",
    instead: 'null',
    test: { file: HOSTILE_TEST, name: 'delays and changes no other payment: a receipt of another block' },
  },
  {
    name: 'Tempo: a receipt that contradicts itself is not judged',
    file: RECEIPTS,
    guard: "return new Unreadable('its receipt contradicts itself');",
    instead: 'return one;',
    test: { file: HOSTILE_TEST, name: 'delays and changes no other payment: a log twice' },
  },
  {
    name: 'Tempo: what cannot be judged is looked at again',
    file: 'packages/chains/src/tempo/observer.ts',
    guard: 'unjudged: [...news.unjudged, ...reread.unjudged, ...again.unjudged, ...outcomes.unjudged],',
    instead: 'unjudged: again.unjudged,',
    test: { file: HOSTILE_TEST, name: 'is looked at again, and is found once it can be read' },
  },
  {
    name: 'Tempo: blocks with payments that a step had no time to read are not passed',
    file: SCAN,
    guard: 'if (left.length === 0) return { end, ...findings };',
    instead: 'if (left.length >= 0) return { end, ...findings };',
    test: { file: OBSERVER_TEST, name: 'reads on where there are more payments in a range than a step can read' },
  },
  {
    name: 'Tempo: blocks with more payments than receipts are kept are passed',
    file: SCAN,
    guard: 'if (hits.length <= WAITED_MAX && bytes <= WAITED_MAX_BYTES)',
    instead: 'if (hits.length > 0)',
    test: { file: SPAM_TEST, name: 'thousands of payments in a block delay none to others' },
  },
  {
    name: 'Tempo: blocks whose receipts are longer than what is kept are passed',
    file: SCAN,
    guard: 'bytes <= WAITED_MAX_BYTES',
    instead: 'bytes >= 0',
    test: {
      file: 'packages/chains/test/tempo/observe/kept-receipts.unit.test.ts',
      name: 'have a bound of bytes, and payments of which they exceed it are read all the same',
    },
  },
  {
    name: 'Tempo: the second reading goes on within a block',
    file: 'packages/chains/src/tempo/observer.ts',
    guard: 'within ?? -1n),',
    instead: '-1n),',
    test: { file: SPAM_TEST, name: 'thousands of payments in a block delay none to others' },
  },
  {
    name: 'Tempo: a submission that landed and paid its intent nothing has an outcome',
    file: 'packages/chains/src/tempo/observe/pending-outcomes.ts',
    guard: 'findings.unjudged.length > 0 || findings.found.some((one) => one.intentId === intentId)',
    instead: 'findings.found.length >= 0',
    test: { file: OBSERVER_TEST, name: 'ends a submission whose transaction succeeded and paid its intent nothing' },
  },
  {
    name: 'Tempo: what arrives without a memo is looked for, too',
    file: SCAN,
    guard: 'events: watch.hasDeposits ? [...payments, TRANSFER] : payments,',
    instead: 'events: payments,',
    test: { file: DEPOSITS_TEST, name: 'is a deposit that is final at once, and told once' },
  },
  {
    name: 'Tempo: the payment of an intent is no deposit',
    file: ARRIVALS,
    guard: '...memos.filter(({ reference }) => !isNamed(reference)),',
    instead: '...memos,',
    test: { file: ARRIVALS_TEST, name: 'are none where the memo names an intent, whose payment it is' },
  },
  {
    name: 'Tempo: a transfer and its memo are one',
    file: ARRIVALS,
    guard: '.filter((move) => !isSame(move, memoAt.get(placeOf(move.log, 1n))))',
    instead: '.filter((move) => move !== undefined)',
    test: { file: ARRIVALS_TEST, name: 'are one where a memo that no intent has stands beside the transfer' },
  },
  {
    name: 'Tempo: what the guard keeps back has not arrived at a virtual address',
    file: ARRIVALS,
    guard: ' && !isKeptBack(one))',
    instead: ')',
    test: { file: ARRIVALS_TEST, name: 'are none where the guard keeps back what a virtual address is paid' },
  },
  {
    name: 'Tempo: one account is told once of what a virtual address passes on',
    file: REPORTS,
    guard: '.filter(({ accountId }) => !told.includes(accountId))',
    instead: '',
    test: { file: REPORTS_TEST, name: 'go to no account that is told of it at the virtual address' },
  },
  {
    name: 'Tempo: a deposit is final by what two upstreams show alike',
    file: REPORTS,
    guard: 'return first !== by;',
    instead: 'return first !== undefined;',
    test: { file: REPORTS_TEST, name: 'are confirmed by the first upstream that shows one, and final by the second' },
  },
  {
    name: 'Tempo: a deposit is lost by the word of two upstreams only',
    file: REPORTS,
    guard: 'if (!isEnough || first === undefined || others.some((other) => other !== first)) return [];',
    instead: 'if (first === undefined && others[0] === undefined) return [];',
    test: { file: REPORTS_TEST, name: 'are never lost by the word of one upstream where there are two' },
  },
  {
    name: 'Tempo: a deposit that pays an intent is withdrawn, also once it is final',
    file: 'packages/chains/src/deposits.ts',
    guard: 'for (const one of late)',
    instead: 'for (const one of late.slice(late.length))',
    test: { file: REPORTS_TEST, name: 'are withdrawn once they are final where a second reading shows the memo' },
  },
  {
    name: 'Tempo: many deposits at once delay none of other accounts',
    file: REPORTS,
    guard: 'byTurns(watch, seen).slice(0, most)',
    instead: 'seen.slice(0, most)',
    test: { file: REPORTS_TEST, name: 'are made by turns of the accounts' },
  },
  {
    name: 'Tempo: the second reading leaves out no deposit',
    file: SCAN,
    guard: '[...left.slice(0, 1), ...arrived.slice(SIGHTINGS_MAX, SIGHTINGS_MAX + 1)]',
    instead: 'left.slice(0, 1)',
    test: { file: DEPOSITS_TEST, name: 'delays no payment and no other account where thousands come in a block' },
  },
  {
    name: 'The account that gets what a requestor is paid is screened',
    file: 'services/gateway/src/intents/clean-wallets.ts',
    guard: 'new Set([requestor, payee,',
    instead: 'new Set([requestor,',
    test: {
      file: 'services/gateway/test/intents/clean-wallets.unit.test.ts',
      name: 'is screened beside the requestor and the fulfiller',
    },
  },
  {
    name: 'Tempo: a step asks no more for what was not returned in time',
    file: RECEIPTS,
    guard: 'hashes.filter((hash) => late?.reads.isKnown(hash) !== true);',
    instead: 'hashes;',
    test: {
      file: 'packages/chains/test/hostile/late-on-tempo.unit.test.ts',
      name: 'delays it by less than a second where none of 1 upstreams ever returns it',
    },
  },
  {
    name: 'Tempo: a receipt that is too long hides no payment',
    file: RECEIPTS,
    guard: 'alone[place] = (await receiptByLogs(node, hash, network, waited)) ?? one;',
    instead: 'alone[place] = one;',
    test: {
      file: HOSTILE_TEST,
      name: 'hides no payment by a receipt that is too long: the logs of its block tell what it pays',
    },
  },
  {
    name: 'Tempo: a submission that has logged a payment is not dropped',
    file: 'packages/chains/src/tempo/observe/pending-outcomes.ts',
    guard: 'const isAside = context.aside.has(submission.hash)',
    instead: 'const isAside = false as boolean',
    test: {
      file: 'packages/chains/test/tempo/observe/pending-outcomes.unit.test.ts',
      name: 'is not dropped while it is set aside, as it has logged a payment whose receipt may be pruned',
    },
  },
  {
    name: 'Tempo: a proof beside the steps that a submission has not landed counts while its receipt is late',
    file: 'packages/chains/src/tempo/observe/pending-outcomes.ts',
    guard: 'if (at && !isAside)',
    instead: 'if (at && isAside)',
    test: {
      file: 'packages/chains/test/hostile/finals-on-tempo.unit.test.ts',
      name: 'ends an expired submission that the first upstream is slow to say it has no receipt of',
    },
  },
  {
    name: 'Tempo: what a second upstream has shown beside the steps counts in the next one',
    file: 'packages/chains/src/tempo/observe/finality.ts',
    guard: '[...[...hashes].filter(hasCome), ...others.slice(0, ASKED_MAX)]',
    instead: '[...hashes].filter((hash) => this.#schedule.isDue(hash, now)).slice(0, ASKED_MAX)',
    test: {
      file: 'packages/chains/test/hostile/finals-on-tempo.unit.test.ts',
      name: 'becomes final by the first reading that comes late, however old the payment is',
    },
  },
  {
    name: 'A crowd of payers’ dust takes no place of a payment that cannot be judged yet',
    file: 'packages/chains/src/set-aside.ts',
    guard: 'largestFirst(one.party, other.party)',
    instead: 'largestFirst(one.party, one.party)',
    test: {
      file: 'packages/chains/test/set-aside.unit.test.ts',
      name: 'are the largest of one recipient, where each of 500 payers has dust there',
    },
  },
  {
    name: 'What an intent waits for is not given up',
    file: 'packages/chains/src/set-aside.ts',
    guard: 'now - one.since >= GIVEN_UP_MS && !isHeld(one)',
    instead: 'now - one.since >= GIVEN_UP_MS',
    test: {
      file: 'packages/chains/test/set-aside.unit.test.ts',
      name: 'are neither given up nor crowded out while an intent waits for their outcome',
    },
  },
  {
    name: 'In live mode it is known who gets what a requestor is paid',
    file: 'services/gateway/src/intents/clean-wallets.ts',
    guard: 'if (!livemode) return requestor;',
    instead: 'return requestor;',
    test: {
      file: 'services/gateway/test/intents/clean-wallets.unit.test.ts',
      name: 'has to be known in live mode, and need not be in test mode',
    },
  },
  {
    name: 'The portal of a zone is no wallet, whether the zone is open or not',
    file: 'packages/chains/src/tempo/address.ts',
    guard: 'ZONE_PORTAL.test(text) ?',
    instead: 'ZONE_PORTAL.test(network.name) ?',
    test: {
      file: 'packages/chains/test/tempo/address.unit.test.ts',
      name: "refuses the address 0x5ad0000000000000000000000000000000000007: is the chain's own contract: zone portal",
    },
  },
];
