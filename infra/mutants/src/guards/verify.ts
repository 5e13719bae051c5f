import type { Mutant } from '../mutant.ts';

const CHAINS = 'packages/chains';
const solana = {
  file: `${CHAINS}/src/solana/verify.ts`,
  tests: `${CHAINS}/test/solana/mutations.unit.test.ts`,
  others: 'cannot change instructions unless',
} as const;
const base = {
  file: `${CHAINS}/src/base/verify.ts`,
  tests: `${CHAINS}/test/base/mutations.unit.test.ts`,
  fields: `${CHAINS}/test/base/verify.unit.test.ts`,
} as const;
const tempo = {
  file: `${CHAINS}/src/tempo/verify.ts`,
  tests: `${CHAINS}/test/tempo/mutations.unit.test.ts`,
  fields: `${CHAINS}/test/tempo/verify.unit.test.ts`,
} as const;
const FIELDS = 'names each field that differs, whatever it is changed to';

/** Without the comparison of this difference. */
const uncompared = (
  name: string,
  of: string,
  { file, tests }: { readonly file: string; readonly tests: string },
  test: string,
): Mutant => ({
  name,
  file,
  guard: `compare('${of}',`,
  instead: `void ('${of}',`,
  test: { file: tests, name: test },
});

/** What is accepted of a payer who signs what he likes. */
export const verifyGuards: readonly Mutant[] = [
  {
    ...uncompared('Solana: nothing beside the payment', 'instructions', solana, solana.others),
    guard: "compare(\n    'instructions',",
    instead: "String(\n    'instructions',",
  },
  {
    ...uncompared('Solana: creation, memo, transfer, in this order', 'order', solana, solana.others),
    guard: "compare(\n    'order',",
    instead: "String(\n    'order',",
  },
  uncompared('Solana: one transfer', 'transfers', solana, solana.others),
  uncompared(
    'Solana: from the payer’s own account',
    'source',
    solana,
    'learns the name of each part of the transfer that differs',
  ),
  uncompared(
    'Solana: to the requestor’s account',
    'recipient',
    solana,
    'learns the name of each part of the transfer that differs',
  ),
  uncompared(
    'Solana: of the intent’s token',
    'token',
    solana,
    'learns the name of each part of the transfer that differs',
  ),
  {
    ...uncompared('Solana: one reference, the intent’s', 'reference', solana, solana.others),
    guard: "compare('reference', terms.reference, references",
    instead: "void ('reference', terms.reference, references",
  },
  {
    name: 'Solana: a sponsor is in no instruction',
    file: solana.file,
    guard: "compare('feePayer', 'in no instruction', uses",
    instead: "void ('feePayer', 'in no instruction', uses",
    test: {
      file: 'packages/chains/test/solana/verify.unit.test.ts',
      name: 'refuses a fee payer in the accounts of an instruction, also as payer of the token account',
    },
  },
  {
    name: 'Solana: a sponsor has signed',
    file: solana.file,
    guard: "if (sponsorSigns === 'before' && !(await isSignedBy(transaction, sponsor)))",
    instead: 'if (sponsorSigns === null && !(await isSignedBy(transaction, sponsor)))',
    test: {
      file: 'packages/chains/test/solana/verify.unit.test.ts',
      name: 'refuses a signature that is not the fee payer’s',
    },
  },
  {
    name: 'Solana: a sponsor returns the message that it was handed',
    file: 'packages/chains/src/solana/sponsoring.ts',
    guard: 'if (!after.ok || !same(before.message, after.value.message)) return false;',
    instead: 'if (!after.ok) return false;',
    test: {
      file: 'packages/chains/test/solana/sponsoring.unit.test.ts',
      name: 'is the same message with its signature, and nothing else',
    },
  },
  {
    name: 'Tempo: a sponsor changes nothing that the payer has signed',
    file: 'packages/chains/src/tempo/sponsoring.ts',
    guard: 'if (!after.ok || sentBySender(before) !== sentBySender(after.value)) return Promise.resolve(false);',
    instead: 'if (!after.ok) return Promise.resolve(false);',
    test: {
      file: 'packages/chains/test/tempo/sponsoring.unit.test.ts',
      name: 'is the same transaction with a fee token and its signature, and nothing else',
    },
  },
  {
    name: 'Solana: a reference is only read',
    file: solana.file,
    guard: 'if (references.some((place) => transaction.isWritable(place)))',
    instead: 'if (false)',
    test: { file: solana.tests, name: solana.others },
  },
  {
    name: 'Solana: the new account is the requestor’s',
    file: solana.file,
    guard: "for (const { accounts } of creations) compare('token_account',",
    instead: "for (const { accounts } of creations) void ('token_account',",
    test: { file: solana.tests, name: solana.others },
  },
  {
    name: 'Solana: a guard is an assertion known today',
    file: solana.file,
    guard: ' &&\n    first <= ASSERTIONS.last',
    instead: '',
    test: { file: solana.tests, name: solana.others },
  },
  {
    name: 'Solana: of the sponsor, guards assert its balance and owner alone',
    file: solana.file,
    guard: "kind === 'guard' && first >= ACCOUNT_ASSERTIONS.first && first <= ACCOUNT_ASSERTIONS.last",
    instead: "kind === 'guard'",
    test: {
      file: `${CHAINS}/test/solana/verify.unit.test.ts`,
      name: 'refuses a fee payer in any other instruction of the guards’ program',
    },
  },
  {
    name: 'Solana: at most four guards',
    file: solana.file,
    guard: "if (of('guard').length > GUARDS_MAX)",
    instead: 'if (false)',
    test: {
      file: `${CHAINS}/test/solana/verify.unit.test.ts`,
      name: 'names each field that differs, whatever it is changed to',
    },
  },
  {
    name: 'Solana: a compute budget names no accounts',
    file: solana.file,
    guard: 'if (touched.length > 0)',
    instead: 'if (false)',
    test: { file: solana.tests, name: solana.others },
  },
  {
    name: 'Solana: a fee within bounds',
    file: solana.file,
    guard: 'if (fee > feeMax)',
    instead: 'if (false)',
    test: { file: solana.tests, name: 'cannot change bytes unless' },
  },
  {
    name: 'Solana: the signature is of this very message',
    file: solana.file,
    guard: 'if (sender !== null && !(await isSignedBy(transaction, sender)))',
    instead: 'if (false)',
    test: {
      file: `${CHAINS}/test/solana/verify.unit.test.ts`,
      name: 'must be the fulfiller, with a signature of this message',
    },
  },
  uncompared('Base: for the intent’s chain', 'chain', { ...base, tests: base.fields }, FIELDS),
  uncompared('Base: to the intent’s token', 'token', base, 'cannot change bytes of a payment'),
  uncompared('Base: no ether beside', 'value', { ...base, tests: base.fields }, FIELDS),
  uncompared('Base: the intent’s reference', 'reference', base, 'cannot change bytes of a payment'),
  {
    name: 'Base: nothing behind the reference but an attribution',
    file: base.file,
    guard: 'if (payment === null || !payment.clean)',
    instead: 'if (payment === null)',
    test: { file: base.tests, name: 'cannot repeat, reorder or insert words' },
  },
  uncompared('Tempo: one call', 'calls', tempo, 'cannot add, change or reorder calls'),
  uncompared('Tempo: for the intent’s chain', 'chain', { ...tempo, tests: tempo.fields }, FIELDS),
  uncompared('Tempo: to the intent’s token', 'token', tempo, 'cannot add, change or reorder calls'),
  uncompared('Tempo: the intent’s amount', 'amount', tempo, 'cannot change bytes signed with a key'),
  uncompared('Tempo: the intent’s reference', 'reference', tempo, 'cannot change bytes signed with a key'),
  {
    name: 'Tempo: an MPP memo names its own intent only',
    file: `${CHAINS}/src/tempo/mpp.ts`,
    guard: 'mppNameIn(memo) === mppNameOf(terms)',
    instead: 'mppNameIn(memo) !== null',
    test: {
      file: `${CHAINS}/test/tempo/mpp.unit.test.ts`,
      name: 'does not count for another realm, another intent or another version',
    },
  },
  {
    name: 'Solana: a memo names the intent only where nothing else could be meant',
    file: `${CHAINS}/src/solana/observe/reading.ts`,
    guard: 'const memo = all.length === 1 ? soleMemo(decoded) : null;',
    instead: 'const memo = soleMemo(decoded);',
    test: {
      file: `${CHAINS}/test/solana/observe/landings.unit.test.ts`,
      name: 'come from the only memo where the only transfer has no reference, and from nothing less certain',
    },
  },
  {
    name: 'Lists within lists cost a gateway nothing',
    file: `${CHAINS}/src/evm/rlp.ts`,
    guard: 'if (depth > depthMax) return false;',
    instead: '',
    test: {
      file: `${CHAINS}/test/worst-inputs.unit.test.ts`,
      name: 'take a few milliseconds on Base for lists within lists',
    },
  },
  {
    name: 'The signature of a passkey costs a gateway little',
    file: `${CHAINS}/src/tempo/signed-transaction.ts`,
    guard: 'return hasCostlyPasskey(shape.texts) ? COSTLY_PASSKEY : null;',
    instead: 'return null;',
    test: {
      file: `${CHAINS}/test/worst-inputs.unit.test.ts`,
      name: 'take a few milliseconds on Tempo for a passkey’s data of zeros',
    },
  },
];
