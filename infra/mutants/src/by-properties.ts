import { mutants } from './mutants.ts';
import type { Mutant } from './mutant.ts';

/** A planted fault: a guard of another test that is taken out, or a text and what stands instead of it. */
type Fault = string | Omit<Mutant, 'test'>;

const SRC = 'packages/chains/src';
const TESTS = 'packages/chains/test';
const GAIN = 'packages/domain/src/model/gain.ts';

/** The property tests of random transactions, with faults that each of them has to find. */
const PROPERTIES: readonly { readonly test: Mutant['test']; readonly faults: readonly Fault[] }[] = [
  {
    test: {
      file: `${TESTS}/solana/property/gains.unit.test.ts`,
      name: 'is never more than the requestor gained, and all of it where payments are honest',
    },
    faults: [
      'Solana: no more is observed than all accounts of the owner gained',
      'Solana: the token is that of the credited account after the transaction',
      'Solana: a name in a call counts only where the authority has signed the transaction',
      'Solana: more bytes than a transfer needs do not hide it',
      {
        name: 'What was not gained is shared, as long as transfers explain it',
        file: GAIN,
        guard: '(gained < explained ? gained : explained)',
        instead: 'explained',
      },
      {
        name: 'A claim is worth its amount where less is left',
        file: GAIN,
        guard: '(units * credit.amount) / open',
        instead: 'credit.amount',
      },
      {
        name: 'What one claim has got is not there for the next one',
        file: GAIN,
        guard: 'units -= share;',
        instead: '',
      },
      {
        name: 'Each claim gets its part of what is left, and not of the rest',
        file: GAIN,
        guard: 'open -= credit.amount;',
        instead: '',
      },
      {
        name: 'Solana: a transfer is worth what its instruction says',
        file: `${SRC}/solana/observe/landings.ts`,
        guard: '          amount,\n',
        instead: '          amount: transfer.amount,\n',
      },
      {
        name: 'Solana: any authority counts as one that has signed',
        file: `${SRC}/solana/observe/reading.ts`,
        guard: 'isSigned: authority < decoded.signers',
        instead: 'isSigned: true',
      },
      {
        name: 'Solana: transfers that a program makes are not read',
        file: `${SRC}/solana/observe/reading.ts`,
        guard: '...(inner.get(place) ?? [])',
        instead: '...(inner.get(-1) ?? [])',
      },
      {
        name: 'Solana: the mint is taken for the account that is paid',
        file: `${SRC}/solana/observe/reading.ts`,
        guard: 'form.isChecked ? rest.slice(1) : rest',
        instead: 'rest',
      },
      {
        name: 'Solana: transfers with a fee are not read',
        file: `${SRC}/solana/observe/reading.ts`,
        guard: 'discriminators: [26, 1]',
        instead: 'discriminators: [26, 2]',
      },
      {
        name: 'Solana: transfers that name no mint are not read',
        file: `${SRC}/solana/observe/reading.ts`,
        guard: 'discriminators: [TRANSFER_DISCRIMINATOR], bytes: 9',
        instead: 'discriminators: [TRANSFER_DISCRIMINATOR], bytes: 99',
      },
    ],
  },
  {
    test: {
      file: `${TESTS}/tempo/property.integration.test.ts`,
      name: 'pay an intent what its recipient has gained at most, and all of it where nothing of that went out again',
    },
    faults: [
      'Tempo: what an account pays out makes its payments worth less',
      'Tempo: the fee that an account pays is no part of what it gets',
      {
        name: 'Tempo: a payment is worth what its memo’s log says',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'amount: worth,',
        instead: 'amount,',
      },
      {
        name: 'Tempo: a memo is of the log before the Transfer',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'const same = moves[place - 1] ?? null;',
        instead: 'const same = moves[place - 2] ?? null;',
      },
      {
        name: 'Tempo: what an account pays itself is worth its amount',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'paymentOf(claim, money, worth.get(money) ?? 0n)',
        instead: 'paymentOf(claim, money, worth.get(money) ?? claim.amount)',
      },
      {
        name: 'Tempo: one token makes good what another took away',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'const name = `${token} ${holder}`;',
        instead: 'const name = holder;',
      },
      {
        name: 'Tempo: a token of which anyone makes as much as he likes pays, too',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'if (log.removed || !tokens.has(log.address)) return null;',
        instead: 'if (log.removed) return null;',
      },
      {
        name: 'Tempo: what was paid without a memo is shared with what has one',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'isClaimed: claims.has(move), move',
        instead: 'isClaimed: true, move',
      },
      {
        name: 'Tempo: what an account pays itself is taken off what others have paid',
        file: `${SRC}/tempo/observe/landings.ts`,
        guard: 'if (from === to) continue;',
        instead: '',
      },
    ],
  },
  {
    test: {
      file: `${TESTS}/base/property.integration.test.ts`,
      name: 'pay an intent what its recipient has gained at most, and only where the account that paid has ordered it',
    },
    faults: [
      'Base: what leaves the account again in the same transaction has not paid',
      'Base: random transactions never pay more than arrives',
      {
        name: 'Base: the reference behind a spender’s pull is taken for its owner’s',
        file: `${SRC}/base/nested/references.ts`,
        guard:
          "if (call.type !== 'CALL' || call.to !== log.address.toLowerCase() || call.from !== from.toLowerCase())\n" +
          '    return NOT_ORDERED;',
        instead: "if (call.input.startsWith('0x23b872dd')) return `0x${call.input.slice(-64)}` as Reference;",
      },
      {
        name: 'Base: what an account was told counts, whatever a trace shows',
        file: `${SRC}/base/nested/explain.ts`,
        guard: 'trace === null ? null : referencesByTrace(trace, logs)',
        instead: 'trace === null ? null : referencesByCalldata(sent, logs)',
      },
      {
        name: 'Base: calldata explains what the calls of the tokens leave open',
        file: `${SRC}/base/nested/explain.ts`,
        guard: "if (said === 'none') references",
        instead: 'references',
      },
      {
        name: 'Base: what anyone sends to a contract is what that was told',
        file: `${SRC}/base/nested/calldata-references.ts`,
        guard: 'return from === to ? [',
        instead: 'return from !== null ? [',
      },
      {
        name: 'Base: of several references that calls carry, the first one counts',
        file: `${SRC}/base/nested/references.ts`,
        guard: 'another !== undefined || ',
        instead: '',
      },
      {
        name: 'Base: a pull is no call that can have made a transfer',
        file: `${SRC}/base/nested/references.ts`,
        guard: 'return isPulled ? { reference: NOT_ORDERED } : null;',
        instead: 'return null;',
      },
      {
        name: 'Base: a call of any account can have made a transfer',
        file: `${SRC}/base/nested/references.ts`,
        guard: 'caller === from ? decodeTransfer(data) : null',
        instead: 'decodeTransfer(data)',
      },
    ],
  },
];

const faultOf = (fault: Fault): Omit<Mutant, 'test'> => {
  const found = typeof fault === 'string' ? mutants.find(({ name }) => name === fault) : fault;
  if (found === undefined) throw new Error(`There is no guard "${fault as string}".`);
  return found;
};

/** Planted faults that the property tests of random transactions find, each by the test of its chain. */
export const foundByProperties: readonly Mutant[] = PROPERTIES.flatMap(({ test, faults }) =>
  faults.map((fault) => ({ ...faultOf(fault), test })),
);
