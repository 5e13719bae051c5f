import type { Mutant } from '../mutant.ts';

/** What clients are told, and what is broadcast. */
export const gatewayGuards: readonly Mutant[] = [
  {
    name: 'Creates of one idempotency key go to one partition',
    file: 'services/gateway/src/intents/create.ts',
    guard:
      'const partition = idempotencyKey === null ? anywhere.next() : partitionOfKey(accountId, livemode, idempotencyKey, partitions);',
    instead: 'const partition = anywhere.next();',
    test: {
      file: 'services/gateway/test/intents/races.integration.test.ts',
      name: 'creates of one key, of which the first is not decided when the last comes, make one intent',
    },
  },
  {
    name: 'Without Redis outcomes are read from the database',
    file: 'services/gateway/src/outcomes.ts',
    guard:
      'for (const outcome of await findOutcomes(this.#database, [...this.#sought])) this.settle({ outcome, intent: null });',
    instead: 'await findOutcomes(this.#database, []);',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'answers without Redis, from the database',
    },
  },
  {
    name: 'An end of a gateway is told to kept connections before they are closed',
    file: 'services/gateway/src/server.ts',
    guard: 'if (this.#leaving) response.shouldKeepAlive = false;',
    instead: '',
    test: {
      file: 'services/gateway/test/server.unit.test.ts',
      name: 'is told on a kept connection by the answer to what is asked on it meanwhile',
    },
  },
  {
    name: 'What nobody has decided in time is a 503 with the intent’s id',
    file: 'services/gateway/src/commands.ts',
    guard: 'if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError) throw',
    instead: 'if (error instanceof LogUnavailableError) throw',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'does not claim to have created what nobody has decided, and names the intent that may come to be',
    },
  },
  {
    name: 'The bytes of a transaction are kept before the intent is claimed for it',
    file: 'services/gateway/src/intents/submit.ts',
    guard: 'await kept.keep({ intentId: intent.id, chain: intent.chain, hash: signed.hash, bytes: signed.raw });',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'broadcasts once for many who submit the same transaction at once',
    },
  },
  {
    name: 'Of an unknown broadcast the claim stays',
    file: 'services/gateway/src/intents/claim.ts',
    guard: "    case 'unknown':\n      throw stillClaimed(id, hash);",
    instead:
      "    case 'unknown':\n      await release(parts, claim, broadcast.reason);\n      throw stillClaimed(id, hash);",
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'keeps the claim where a broadcast may have been taken',
    },
  },
  {
    name: 'A claim comes before the broadcast',
    file: 'services/gateway/src/intents/claim.ts',
    guard: 'const prepareResult = await commands.require(',
    instead: 'if (!isOut) await adapter.broadcast(signed);\n  const prepareResult = await commands.require(',
    test: {
      file: 'services/gateway/test/intents/races.integration.test.ts',
      name: 'of two payers who submit at once only one has paid',
    },
  },
  {
    name: 'What the log does not take is a 503 with the intent’s id',
    file: 'services/gateway/src/commands.ts',
    guard: 'if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError) throw',
    instead: 'if (error instanceof OutcomeUnknownError) throw',
    test: {
      file: 'services/gateway/test/log-away.integration.test.ts',
      name: 'says that it cannot be reached now, and which intent may come to be: it has not created one',
    },
  },
];
