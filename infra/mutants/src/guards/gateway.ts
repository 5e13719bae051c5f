import type { Mutant } from '../mutant.ts';

/** Guards of responses and broadcasts. */
export const gatewayGuards: readonly Mutant[] = [
  {
    name: 'Creates with one idempotency key go to one partition',
    file: 'services/gateway/src/intents/create.ts',
    guard:
      'idempotencyKey === null ? partitioner.next() : partitionOfKey(accountId, livemode, idempotencyKey, partitions)',
    instead: 'partitioner.next()',
    test: {
      file: 'services/gateway/test/intents/races.integration.test.ts',
      name: 'create one intent with one idempotency key, even before the first create is decided',
    },
  },
  {
    name: 'Outcomes are read from the database while Redis is unavailable',
    file: 'services/gateway/src/outcomes.ts',
    guard: 'await this.#intents.findOutcomes([...this.#lookedUp])',
    instead: 'await this.#intents.findOutcomes([])',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'read outcomes from the database while Redis is unavailable',
    },
  },
  {
    name: 'A gateway that stops closes kept connections with a response',
    file: 'packages/http/src/server.ts',
    guard: 'if (this.#closing) response.shouldKeepAlive = false;',
    instead: 'if (this.#open.size < 0) response.shouldKeepAlive = false;',
    test: {
      file: 'packages/http/test/server.unit.test.ts',
      name: 'serves a last request on a kept connection and closes it with the response',
    },
  },
  {
    name: 'A command that times out is a 503 with the intent’s id',
    file: 'services/gateway/src/commands.ts',
    guard: 'if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError)',
    instead: 'if (error instanceof LogUnavailableError)',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'returns 503 with the id of the intent that may still be created',
    },
  },
  {
    name: 'The bytes of a transaction are stored before the intent is claimed for it',
    file: 'services/gateway/src/intents/submit.ts',
    guard:
      'await signedTransactions.keep({ intentId: intent.id, chain: intent.chain, hash: signed.hash, ' +
      'bytes: signed.raw });',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'claims once for concurrent submissions of the same transaction',
    },
  },
  {
    name: 'The claim stays after a broadcast with an unknown outcome',
    file: 'services/gateway/src/intents/claim.ts',
    guard: "    case 'unknown':\n      throw stillClaimed(id, hash);",
    instead:
      "    case 'unknown':\n      await release(dependencies, claim, broadcast.reason);\n" +
      '      throw stillClaimed(id, hash);',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'keeps the claim if a broadcast may have been accepted',
    },
  },
  {
    name: 'A claim comes before the broadcast',
    file: 'services/gateway/src/intents/claim.ts',
    guard: 'const prepareResult = await commands.require(',
    instead: 'if (!isOut) await adapter.broadcast(signed);\n  const prepareResult = await commands.require(',
    test: {
      file: 'services/gateway/test/intents/races.integration.test.ts',
      name: 'let only one of two payers pay when both submit at once',
    },
  },
  {
    name: 'A command that cannot be published is a 503 with the intent’s id',
    file: 'services/gateway/src/commands.ts',
    guard: 'if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError)',
    instead: 'if (error instanceof OutcomeUnknownError)',
    test: {
      file: 'services/gateway/test/log-away.integration.test.ts',
      name: 'returns 503 with the id of the intent that may have been created, and creates none',
    },
  },
  {
    name: 'A build of a refund is not returned while its original payment is undone',
    file: 'services/gateway/src/intents/lookup.ts',
    guard: 'if (intent.refundOf !== null)',
    instead: 'if (intent.refundOf === intent.id)',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'is neither built nor submitted while its original payment is undone',
    },
  },
  {
    name: 'One account cannot fill a partition',
    file: 'services/gateway/src/limits/command-turns.ts',
    guard: 'if (this.#taken < this.#most && this.#line.length === 0) {',
    instead: 'if (this.#taken < this.#most || this.#line.length === 0) {',
    test: {
      file: 'services/gateway/test/limits/command-turns.unit.test.ts',
      name: 'let another account’s command be decided in the next batch',
    },
  },
];
