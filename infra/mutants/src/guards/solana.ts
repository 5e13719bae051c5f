import type { Mutant } from '../mutant.ts';

const OBSERVE = 'packages/chains/src/solana/observe';
const SECOND = 'packages/chains/src/second-reader.ts';
const TESTS = 'packages/chains/test/solana';
const attacks = `${TESTS}/attacks.integration.test.ts`;
const finals = 'packages/chains/test/hostile/finals-on-solana.unit.test.ts';
const crowds = 'packages/chains/test/hostile/late-crowds-on-solana.unit.test.ts';
const arrivals = `${TESTS}/observe/arrivals.unit.test.ts`;
const paid = `${TESTS}/observe/paid.unit.test.ts`;
const random = {
  file: `${TESTS}/property/gains.unit.test.ts`,
  name: 'is never more than the requestor gained, and all of it where payments are honest',
};

/** What a transaction on Solana has paid, and that one transaction stops no other. */
export const solanaGuards: readonly Mutant[] = [
  {
    name: 'Solana: what was listed and has come beside the steps waits for no turn',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'const asked = [...first, ...due.slice(0, askedMost)];',
    instead: 'const asked = [...due, ...first].slice(0, askedMost);',
    test: {
      file: `${TESTS}/observe/lookups.unit.test.ts`,
      name: 'is judged by what has come of it beside the steps, which comes once, beside what the step asks for',
    },
  },
  {
    name: 'Solana: what was submitted and has come beside the steps waits for no turn',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'const asked = [...come, ...inOrder.slice(0, Math.min(LOOKED_MAX, most))];',
    instead: 'const asked = [...inOrder, ...come].slice(0, Math.min(LOOKED_MAX, most));',
    test: {
      file: `${TESTS}/observe/lookups.unit.test.ts`,
      name: 'ends by what has come of it beside the steps, which comes once, beside what the step asks for',
    },
  },
  {
    name: 'Solana: no bytes are handed out that are about to die',
    file: 'packages/chains/src/solana/build.ts',
    guard: 'isSponsored ? left >= 0n : isWorthSigning(left, life)',
    instead: 'isSponsored || life >= 0n ? left >= 0n : isWorthSigning(left, life)',
    test: {
      file: `${TESTS}/dying-bytes.integration.test.ts`,
      name: 'are not handed out when a build is asked for just before its blockhash dies',
    },
  },
  {
    name: 'Solana: what a sponsor may have signed is built again only once it cannot land',
    file: 'packages/chains/src/solana/build.ts',
    guard: 'isSponsored ? left >= 0n : isWorthSigning(left, life)',
    instead: 'isSponsored ? isWorthSigning(left, life) : isWorthSigning(left, life)',
    test: {
      file: `${TESTS}/dying-bytes.integration.test.ts`,
      name: 'are handed out again where a sponsor may have them signed, until they can no longer land',
    },
  },
  {
    name: 'Solana: a node that is behind does not tell how long bytes live',
    file: 'packages/chains/src/solana/build.ts',
    guard: 'const left = lastValid - heads.pace.saw(height);',
    instead: 'const left = lastValid - height;',
    test: {
      file: `${TESTS}/dying-bytes.integration.test.ts`,
      name: 'are found out although a node that is behind would have them live',
    },
  },
  {
    name: 'Solana: no more is observed than all accounts of the owner gained',
    file: `${OBSERVE}/paid.ts`,
    guard: 'paid.set(one.transfer, most < atMost ? most : atMost);',
    instead: 'paid.set(one.transfer, most < 0n ? most : atMost);',
    test: random,
  },
  {
    name: 'Solana: no more is observed than the credited account gained',
    file: `${OBSERVE}/paid.ts`,
    guard: 'paid.set(one.transfer, most < atMost ? most : atMost);',
    instead: 'paid.set(one.transfer, atMost < 0n ? atMost : most);',
    test: { file: paid, name: 'takes nothing of what another account of the owner gained' },
  },
  {
    name: 'Solana: an account that was of another before counts as new',
    file: `${OBSERVE}/paid.ts`,
    guard: 'was !== undefined && is !== undefined && keyOf(was) === keyOf(is)',
    instead: 'was !== undefined && is !== undefined',
    test: { file: paid, name: 'counts all of an account that was of another owner or token before as new' },
  },
  {
    name: 'Solana: what has left the credited account is taken off',
    file: `${OBSERVE}/paid.ts`,
    guard: 'moved.filter(({ transfer }) => transfer.source === place),',
    instead: '[],',
    test: { file: paid, name: 'shares one amount that goes round, and leaves others what is theirs' },
  },
  {
    name: 'Solana: what others have brought to the account is theirs',
    file: `${OBSERVE}/paid.ts`,
    guard: 'moved.filter(({ from, to }) => to === owner && from !== owner),',
    instead: 'ofOwner,',
    test: { file: paid, name: 'shares one amount that goes round, and leaves others what is theirs' },
  },
  {
    name: 'Solana: what the requestor moves between its own accounts pays nothing',
    file: `${OBSERVE}/paid.ts`,
    guard: '&& to !== null && from !== to;',
    instead: '&& to !== null;',
    test: { file: paid, name: 'is nothing where the owner moves it between accounts, or to itself' },
  },
  {
    name: 'Solana: nothing is paid in an account whose tokens may have moved otherwise',
    file: `${OBSERVE}/paid.ts`,
    guard: 'opaque.has(place) ? 0n : (byAccount.get(one) ?? 0n)',
    instead: 'opaque.has(-1) ? 0n : (byAccount.get(one) ?? 0n)',
    test: {
      file: paid,
      name: 'is nothing in an account whose tokens may have moved otherwise, and all in another one',
    },
  },
  {
    name: 'Solana: an instruction of the token programs that is not known makes its accounts opaque',
    file: `${OBSERVE}/reading.ts`,
    guard: 'if (!MOVES_NOTHING.has(instruction.data[0]))',
    instead: 'if (instruction.data[0] === undefined)',
    test: { file: attacks, name: 'gives what comes by a batch to no claim that has gone' },
  },
  {
    name: 'Solana: the token is that of the credited account after the transaction',
    file: `${OBSERVE}/landings.ts`,
    guard: 'const credited = reading.after.get(transfer.destination);',
    instead: 'const credited = reading.before.get(transfer.source) ?? reading.after.get(transfer.destination);',
    test: { file: attacks, name: 'does not count a worthless token in an account that was of another before' },
  },
  {
    name: 'Solana: the fulfiller is who has signed, and not who owned the account before',
    file: `${OBSERVE}/landings.ts`,
    guard: 'from: transfer.authority as string as WalletAddress,',
    instead: 'from: (reading.before.get(transfer.source)?.owner ?? transfer.authority) as string as WalletAddress,',
    test: { file: attacks, name: 'names who has signed as the one who paid, and not who owned the account before' },
  },
  {
    name: 'Solana: a name in a call counts only where the authority has signed the transaction',
    file: `${OBSERVE}/reading.ts`,
    guard: 'isProven: isOuter || (isSigned && !isByMemo),',
    instead: 'isProven: true,',
    test: random,
  },
  {
    name: 'Solana: more bytes than a transfer needs do not hide it',
    file: `${OBSERVE}/reading.ts`,
    guard: 'data.length >= bytes',
    instead: 'data.length === bytes',
    test: random,
  },
  {
    name: 'Solana: long data of a call is not decoded',
    file: `${OBSERVE}/reading.ts`,
    guard: 'text.length <= TRANSFER_TEXT_MAX',
    instead: 'text.length <= SIZE_MAX',
    test: { file: `${TESTS}/hostile.unit.test.ts`, name: 'takes little time and memory: 63 calls of 10 KiB' },
  },
  {
    name: 'Solana: a transaction that cannot be judged is set aside, and no other with it',
    file: `${OBSERVE}/reading.ts`,
    guard: "return { ok: false, problem: error instanceof Error ? error.message : 'it cannot be read' };",
    instead: 'throw error;',
    test: { file: `${TESTS}/hostile.unit.test.ts`, name: 'is judged by itself: two balances of one account' },
  },
  {
    name: 'Solana: a step does not ask again for what was not returned in time',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'unseen?.problem === NOT_IN_TIME && !come.has(hash)',
    instead: 'unseen === null && !come.has(hash)',
    test: {
      file: 'packages/chains/test/hostile/late-on-solana.unit.test.ts',
      name: 'delays it by less than a second where none of 1 upstreams ever returns it',
    },
  },
  {
    name: 'Solana: a submission that has landed has an outcome',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'return { observations: [...paid.observations, stray ?? movedNothing(pending)], warnings: paid.warnings };',
    instead: 'return paid;',
    test: { file: attacks, name: 'reports who really has the money, where the account was given away in between' },
  },
  {
    name: 'What one upstream has not returned in time is asked of the next where it has returned nothing',
    file: SECOND,
    guard: 'isAllLate() ? further++ === 0 : ',
    instead: '',
    test: { file: finals, name: 'is final at once by a third upstream, where the second returns nothing in time' },
  },
  {
    name: 'Solana: what a second upstream has not shown in time is read beside the steps',
    file: `${OBSERVE}/finality.ts`,
    guard: 'if (late.has(hash)) beginLate(one);',
    instead: 'if (late.has(hash)) continue;',
    test: { file: finals, name: 'is final within a second of its usual time where [0,1] take 1600 ms' },
  },
  {
    name: 'Solana: what is read beside the steps to be final is asked for by none',
    file: `${OBSERVE}/finality.ts`,
    guard: 'else if (seconds.reads.isKnown(hash)) beginLate(one);',
    instead: '',
    test: { file: finals, name: 'is final within a second of its usual time where [1] take Infinity ms' },
  },
  {
    name: 'What is never returned is read beside the steps by turns with what is late',
    file: 'packages/chains/src/late-reads.ts',
    guard: 'else if (this.#waiting.size < KNOWN_MAX || this.#makesRoomFor(recipient)) {',
    instead: 'else if (this.#waiting.size < 0) {',
    test: { file: crowds, name: 'becomes final within its turn' },
  },
  {
    name: 'What is never returned goes by turns of the recipients beside the steps',
    file: 'packages/chains/src/late-reads.ts',
    guard: '      this.#queue.delete(recipient);\n',
    instead: '',
    test: { file: crowds, name: 'becomes final after one turn where all others pay another recipient' },
  },
  {
    name: 'Of a batch what two upstreams lack keeps none from becoming final that a third has shown',
    file: SECOND,
    guard: 'new Set([...notShown, ...elsewhere])',
    instead: 'new Set(notShown)',
    test: { file: crowds, name: 'becomes final by two of three upstreams beside one that two of them refuse' },
  },
  {
    name: 'Of three upstreams any two that show a payment make it final',
    file: 'packages/rpc/src/pool.ts',
    guard: '[other, await ownOrAnother()]',
    instead: '[other, await work(node)]',
    test: { file: crowds, name: 'becomes final after a restart by the two of three upstreams that show it' },
  },
  {
    name: 'A gateway that fails with one transaction is well for others',
    file: SECOND,
    guard: "error instanceof RpcUpstreamError && error.delivered === 'maybe'",
    instead: 'error === null',
    test: { file: crowds, name: 'becomes final beside those with which a gateway fails' },
  },
  {
    name: 'What has come beside the steps is of another upstream than the first',
    file: `${OBSERVE}/finality.ts`,
    guard: 'come.filter(({ by }) => by !== first)',
    instead: 'come.filter(() => true)',
    test: {
      file: `${TESTS}/observe/finality.unit.test.ts`,
      name: 'never becomes final by what has come beside the steps of the upstream that has shown it',
    },
  },
  {
    name: 'Solana: a deposit is judged as soon as it has come beside the steps',
    file: `${OBSERVE}/open-deposits.ts`,
    guard: '(hasCome(one) || now',
    instead: '(now',
    test: { file: finals, name: 'is not delayed by a deposit that is returned after 1600 ms' },
  },
  {
    name: 'Solana: a step waits a moment only for what other upstreams have of a missing transaction',
    file: `${OBSERVE}/proofs.ts`,
    guard: '(node, hashes) => lookBriefly(node, hashes, most)',
    instead: 'lookAt',
    test: {
      file: finals,
      name: 'is not delayed by one that the first upstream lacks and the second returns after Infinity ms',
    },
  },
  {
    name: 'Solana: what other upstreams have of a missing transaction is read beside the steps where it is late',
    file: `${OBSERVE}/proofs.ts`,
    guard: 'if (evidence !== undefined && isLate(evidence)) this.#begin(one);',
    instead: '',
    test: {
      file: finals,
      name: 'is not delayed by one that the first upstream lacks and the second returns after 1600 ms',
    },
  },
  {
    name: 'Solana: a payment is final once two upstreams have shown it',
    file: `${OBSERVE}/finality.ts`,
    guard: 'final.filter((one) => isKnown(one) || agreed.has(one))',
    instead: 'final.filter((one) => isKnown(one) || !agreed.has(one) || true)',
    test: {
      file: `${TESTS}/hostile.integration.test.ts`,
      name: 'makes no payment final that a second one does not show, and says so',
    },
  },
  {
    name: 'Solana: nothing is final by one upstream while the other is unavailable',
    file: SECOND,
    guard: '    { alone: false },\n  );',
    instead: '    { alone: true },\n  );',
    test: {
      file: `${TESTS}/observe/finality.unit.test.ts`,
      name: 'never becomes final at one that lies, however long the other is down',
    },
  },
  {
    name: 'Solana: no deposit is final by one upstream while the other is unavailable',
    file: SECOND,
    guard: '    { alone: false },\n  );',
    instead: '    { alone: true },\n  );',
    test: {
      file: `${TESTS}/observe/open-deposits.unit.test.ts`,
      name: 'are not final by one, however long the second upstream is excluded',
    },
  },
  {
    name: 'Solana: what a second upstream has to show is the payment, and not the transaction only',
    file: `${OBSERVE}/landings.ts`,
    guard: "[intentId, hash, block, index, tokenAddress, to, amount, reference].join(' ')",
    instead: "[hash, block].join(' ')",
    test: {
      file: `${TESTS}/observe/finality.unit.test.ts`,
      name: 'never becomes final where another upstream has shown the transaction since',
    },
  },
  {
    name: 'Solana: the transactions of one recipient do not delay those of another',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'memory.queueTurns.order(ordered, queueOf), recipientOf)',
    instead: 'memory.queueTurns.order(ordered, queueOf), () => null)',
    test: {
      file: `${TESTS}/observe/lookups.unit.test.ts`,
      name: 'waits behind one of each other recipient, however many references of its own are named',
    },
  },
  {
    name: 'Solana: a step reads so many of the submissions that have landed, by turns of their recipients',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'memory.landedHashTurns.order(others, hashOf), requestorOf)',
    instead: 'memory.landedHashTurns.order(others, hashOf), () => null)',
    test: {
      file: `${TESTS}/observe/lookups.unit.test.ts`,
      name: 'is read beside 300 of another recipient, of which a step asks for what the rate allows',
    },
  },
  {
    name: 'Solana: what is set aside has room for each account, whatever others have',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'recipient: recipientOf(found), payer: found[1].payer, amount: found[1].amount }',
    instead: "recipient: '' as Address }",
    test: {
      file: `${TESTS}/observe/lookups.unit.test.ts`,
      name: 'is not given up for a crowd that pays its recipient less',
    },
  },
  {
    name: 'Solana: what names a recipient’s account does not delay what names an intent',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'reference ?? of;',
    instead: 'of;',
    test: {
      file: `${TESTS}/observe/lookups.unit.test.ts`,
      name: 'takes turns with what names the same recipient’s account, where it was found by its reference',
    },
  },
  {
    name: 'Solana: a bookmark stays below what its account lists, by whatever it was found',
    file: `${OBSERVE}/accounts.ts`,
    guard: 'unseen.of !== recipient)',
    instead: 'unseen.of === recipient)',
    test: {
      file: `${TESTS}/lists.unit.test.ts`,
      name: 'holds its recipient’s bookmark, too, where it was found by a reference of another one',
    },
  },
  {
    name: 'Solana: many transactions that name a reference hide none',
    file: `${OBSERVE}/references.ts`,
    guard: 'restOf(paging, page, PAGE, () => page.some(',
    instead: 'restOf(paging, page, PAGE, () => true || page.some(',
    test: {
      file: `${TESTS}/observe/references.unit.test.ts`,
      name: 'is read page by page, one in a step, until the payment is found behind all of them',
    },
  },
  {
    name: 'Solana: the last look at a reference begins at the newest',
    file: `${OBSERVE}/references.ts`,
    guard: 'one.isLast ? one : { ...one, isLast: true, paging: null },',
    instead: '{ ...one, isLast: true },',
    test: {
      file: `${TESTS}/observe/references.unit.test.ts`,
      name: 'is read from its newest once more in the last look, however far it was read before',
    },
  },
  {
    name: 'Solana: two upstreams have one time for what is too much together',
    file: `${OBSERVE}/looking.ts`,
    guard: 'lookAt(other, open, until)',
    instead: 'lookAt(other, open)',
    test: { file: `${TESTS}/observe/looking.unit.test.ts`, name: 'has one time for two upstreams together' },
  },
  {
    name: 'Solana: a transaction is looked up by each of its names once',
    file: `${OBSERVE}/landings.ts`,
    guard: 'for (const name of namesIn(reading)) {',
    instead: 'for (const name of reading.transfers.flatMap(({ names }) => names)) {',
    test: {
      file: `${TESTS}/observe/landings.unit.test.ts`,
      name: 'are looked up once, however often calls name the same accounts',
    },
  },
  {
    name: 'Solana: the lists of one account’s recipients do not delay those of another',
    file: `${OBSERVE}/accounts.ts`,
    guard: '({ recipient }) => ownersIn(recipients, recipient),',
    instead: '() => UNKNOWN,',
    test: { file: `${TESTS}/lists.unit.test.ts`, name: 'is read in the same step where it is another account’s' },
  },
  {
    name: 'Solana: dust does not delay the lists of recipients that got more',
    file: `${OBSERVE}/accounts.ts`,
    guard: 'ascending(risenOf(other), risenOf(one))',
    instead: 'ascending(risenOf(one), risenOf(other))',
    test: {
      file: `${TESTS}/lists.unit.test.ts`,
      name: 'is read in the same step where it is the same account’s, as more than dust has arrived',
    },
  },
  {
    name: 'Solana: the balances of one account’s recipients do not delay those of another',
    file: `${OBSERVE}/accounts.ts`,
    guard: '(recipient) => ownersIn(recipients, recipient),',
    instead: '() => UNKNOWN,',
    test: {
      file: `${TESTS}/lists.unit.test.ts`,
      name: 'are read in every step of an account with few, however many another has, and of that one in turn',
    },
  },
  {
    name: 'Solana: the references of one account’s intents do not delay those of another',
    file: `${OBSERVE}/references.ts`,
    guard: 'ownersIn(watch, recipientOf(one));',
    instead: 'ownersIn(watch, null);',
    test: {
      file: `${TESTS}/observe/references.unit.test.ts`,
      name: 'are looked up by turns of the accounts that own them, however many recipients one has',
    },
  },
  {
    name: 'Solana: what a node never sends costs no others',
    file: `${OBSERVE}/looking.ts`,
    guard: "    return [isTooLong(problem) ? { kind: 'strange', problem } : { kind: 'missing', refusal: problem }];",
    instead: '    throw new Error(problem);',
    test: { file: `${TESTS}/observe/looking.unit.test.ts`, name: 'costs no others what a node never sends' },
  },
  {
    name: 'Solana: money beside an instruction that is not known is set aside with a warning',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'problemIn(look.reading, network, watch)];',
    instead: 'null];',
    test: {
      file: attacks,
      name: 'sets aside with a warning what a batch pays, beside what is judged in the same transaction',
    },
  },
  {
    name: 'Solana: what pays an intent is no deposit',
    file: `${OBSERVE}/arrivals.ts`,
    guard: 'claims.filter(({ transfer: { destination } }) => keyAt(reading, destination) === owned);',
    instead: 'claims.slice(0, 0);',
    test: { file: arrivals, name: 'is all that payments of the same transaction leave, from whoever brought it' },
  },
  {
    name: 'Solana: deposits and payments are no more than all accounts of the owner gained',
    file: `${OBSERVE}/arrivals.ts`,
    guard: 'gainOf(reading, place) - sumOf(paidHere), left);',
    instead: 'gainOf(reading, place) - sumOf(paidHere), 2n ** 64n);',
    test: { file: arrivals, name: 'is nothing of what its owner moves between accounts' },
  },
  {
    name: 'Solana: a deposit has a sender only where one transfer has brought all of it',
    file: `${OBSERVE}/arrivals.ts`,
    guard: 'one !== undefined && others.length === 0 && one.amount >= amount',
    instead: 'one !== undefined',
    test: { file: arrivals, name: 'has no sender where not exactly one transfer brought it all' },
  },
  {
    name: 'Solana: what may be for an intent is no deposit before it is given up',
    file: `${OBSERVE}/lookups.ts`,
    guard: "if (isGivenUp || (look.kind === 'read' && problem === null)) {",
    instead: "if (isGivenUp || look.kind === 'read') {",
    test: {
      file: `${TESTS}/arrivals.integration.test.ts`,
      name: 'is a deposit without proof once a payment of which nothing is certain is given up',
    },
  },
  {
    name: 'Solana: deposits for which there is no room are told of in the next step',
    file: `${OBSERVE}/lookups.ts`,
    guard: 'if (hasRoom) done.push(hash);',
    instead: 'if (hasRoom || deposits.length > 0) done.push(hash);',
    test: {
      file: `${TESTS}/observe/crowds.unit.test.ts`,
      name: 'are told of a step later where there is no room for them, and none is lost',
    },
  },
  {
    name: 'Solana: a deposit is final once two upstreams have shown it',
    file: `${OBSERVE}/open-deposits.ts`,
    guard: 'agreed.push(...deposits.filter(isShown));',
    instead: 'agreed.push(...deposits);',
    test: { file: `${TESTS}/arrivals.integration.test.ts`, name: 'is final once a second upstream has shown it, too' },
  },
  {
    name: 'Solana: the deposits of one account do not delay those of another',
    file: `${OBSERVE}/open-deposits.ts`,
    guard: 'memory.depositTurns.order(waiting, ({ accountId }) => accountId)',
    instead: 'memory.depositTurns.order(waiting, () => null as never)',
    test: {
      file: `${TESTS}/observe/open-deposits.unit.test.ts`,
      name: 'are judged by turns of their accounts, a hundred transactions in a step',
    },
  },
  {
    name: 'Solana: after a lost deposit transactions are read again from its slot on',
    file: 'packages/chains/src/solana/observer.ts',
    guard: '...deposits.map(({ block }) => block)];',
    instead: '...deposits.slice(0, 0).map(({ block }) => block)];',
    test: {
      file: `${TESTS}/arrivals.integration.test.ts`,
      name: 'is lost and received again where a fork has it in another slot',
    },
  },
  {
    name: 'Solana: an instruction that is not known sets nothing aside where no money arrives',
    file: `${OBSERVE}/landings.ts`,
    guard: 'gained <= 0n',
    instead: 'gained < 0n',
    test: { file: attacks, name: 'sets nothing aside where a batch brings no money, or names no intent' },
  },
];
