import type { Mutant } from '../mutant.ts';

/** What is decided, once and in order, and what is projected of it. */
export const writerGuards: readonly Mutant[] = [
  {
    name: 'The projection moves only from where its checkpoint stands',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'WHERE partition = $1::smallint AND position = $2::bigint FOR UPDATE',
    instead: 'WHERE partition = $1::smallint AND $2::bigint IS NOT NULL FOR UPDATE',
    test: {
      file: 'packages/database/test/ledger/projection.integration.test.ts',
      name: 'writes it once: at another checkpoint nothing changes',
    },
  },
  {
    name: 'A row changes only from the version before',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'WHERE intent.id = changed.id AND intent.version = changed.before',
    instead: 'WHERE intent.id = changed.id',
    test: {
      file: 'packages/database/test/ledger/projection.integration.test.ts',
      name: 'writes nothing of it if one intent is at another version',
    },
  },
  {
    name: 'A batch of which one row is missing is not projected',
    file: 'packages/database/src/ledger/projection.ts',
    guard:
      'position = CASE WHEN (SELECT count(*) FROM changed) = cardinality($${changedIds}::text[]) THEN $3::bigint END,',
    instead: 'position = $3::bigint,',
    test: {
      file: 'packages/database/test/ledger/projection.integration.test.ts',
      name: 'writes nothing of it if one intent is missing',
    },
  },
  {
    name: 'A gap in an intent’s versions stops the reader',
    file: 'packages/domain/src/evolve.ts',
    guard: 'if (state?.id !== event.intentId || event.version !== state.version + 1) {',
    instead: 'if (!state) {',
    test: {
      file: 'services/intent/test/catch-up.integration.test.ts',
      name: 'stops at a version gap, with an alarm, and writes nothing',
    },
  },
  {
    name: 'An event that was applied before is passed over',
    file: 'packages/database/src/ledger/fold.ts',
    guard: 'if (event.version <= (state?.version ?? 0)) continue;',
    instead: '',
    test: {
      file: 'services/intent/test/catch-up.integration.test.ts',
      name: 'skips events that are projected already',
    },
  },
  {
    name: 'What is projected is what its events alone say',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'for (const { event, intent } of transitions) {',
    instead:
      'for (const { event, intent: after } of transitions) {\n' +
      '      const intent = { ...after, updatedAt: after.createdAt };',
    test: {
      file: 'services/intent/test/rebuild.integration.test.ts',
      name: 'equals the projection, byte for byte, while the writer keeps writing',
    },
  },
  {
    name: 'Folding the log gives the history too',
    file: 'packages/database/src/ledger/fold.ts',
    guard: 'events: applied.flatMap(projectedEvent),',
    instead: 'events: [],',
    test: {
      file: 'packages/database/test/ledger/rebuild.integration.test.ts',
      name: 'gives the projection, byte for byte',
    },
  },
  {
    name: 'A refused command leaves no event in the log: lost with its owner, it is decided again',
    file: 'services/intent/src/batch-decider.ts',
    guard: " && decision.outcome.kind === 'accepted' ? message : null;",
    instead: ' ? message : null;',
    test: {
      file: 'services/intent/test/batch-decider.unit.test.ts',
      name: 'leaves no trace of a refused command in the log, even when an expiry came first',
    },
  },
  {
    name: 'A command that has an outcome is not decided again',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'if (known !== undefined) return this.#reply(message.replyTo, known);',
    instead: '',
    test: {
      file: 'services/intent/test/contention.integration.test.ts',
      name: 'changes nothing in a later batch and has the first outcome',
    },
  },
  {
    name: 'A claim is made only where no other payer holds one',
    file: 'packages/domain/src/decide/submitting.ts',
    guard:
      'if (live !== undefined && live.hash !== hash && !excludes(live, transaction))\n' +
      '    return refuseWith(refusalInProgress(intent));',
    instead: '',
    test: {
      file: 'services/intent/test/contention.integration.test.ts',
      name: 'goes to one of two payers who submit at once',
    },
  },
  {
    name: 'The writer compares the terms of a transaction itself',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: 'if (Object.keys(differs).length > 0) {',
    instead: 'if (Object.keys(differs).length > 9) {',
    test: {
      file: 'services/intent/test/contention.integration.test.ts',
      name: 'is checked against the current terms of the intent, whatever the gateway has read',
    },
  },
  {
    name: 'A claim is given up only when it was made once',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: 'submission.attempts === 1 &&',
    instead: '',
    test: {
      file: 'services/intent/test/contention.integration.test.ts',
      name: 'is not released by one of two gateways that made it',
    },
  },
  {
    name: 'What one command appends the next one sees',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'this.#ledger.put(change.intent);',
    instead: '',
    test: {
      file: 'services/intent/test/contention.integration.test.ts',
      name: 'lead to one order of events, each applied once, and to a projection that equals their fold',
    },
  },
  {
    name: 'An idempotency key is looked up',
    file: 'services/intent/src/writer.ts',
    guard: 'keys.push({ accountId, livemode, idempotencyKey: data.idempotencyKey });',
    instead: '{}',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'makes one intent when a hundred creates use one idempotency key at once',
    },
  },
  {
    name: 'A command past its deadline is not decided',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'this.#clock - record.timestamp > COMMAND_DEADLINE_MS',
    instead: 'message === null',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'changes nothing when it comes after its deadline',
    },
  },
  {
    name: 'A message that cannot be decided becomes a dead letter',
    file: 'services/intent/src/batch-decider.ts',
    guard:
      'this.#deadLetter(\n        record,\n        head,\n' +
      "        `cannot be decided: ${error instanceof Error ? error.name : 'unknown error'}`,\n" +
      '        error,\n      );',
    instead: 'throw error;',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'becomes a dead letter with its partition and offset, and the next command is decided',
    },
  },
  {
    name: 'A message that does not parse becomes a dead letter',
    file: 'services/intent/src/input.ts',
    guard: 'return { record, message: null, reason: reasonOf(error), head: headOf(record.value) };',
    instead: 'throw error;',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'becomes a dead letter with its partition and offset, and the next command is decided',
    },
  },
  {
    name: 'A dead letter is published before the offset of its message is committed',
    file: 'services/intent/src/writer.ts',
    guard: 'await sendDeadLetters(publisher, decided.dead, log);',
    instead: '',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'becomes a dead letter with its partition and offset, and the next command is decided',
    },
  },
  {
    name: 'An intent expires only behind the observations that were there',
    file: 'services/intent/src/expiry.ts',
    guard: "{ topic: 'chain.observations', offset: end }",
    instead: 'null',
    test: {
      file: 'services/intent/test/expiry.integration.test.ts',
      name: 'is confirmed when its landing was in the log before the expiry, though not yet decided',
    },
  },
  {
    name: 'Time does not go back in a partition',
    file: 'services/intent/src/writer.ts',
    guard: 'Math.max(clock, this.#lastAt.get(partition) ?? 0)',
    instead: 'clock',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'never goes back, though the next writer’s clock is behind',
    },
  },
  {
    name: 'The next owner gives the answers that a killed one owed',
    file: 'services/intent/src/writer.ts',
    guard: '...folded, outcomes });\n        if (projected) this.#dependencies.announcer.announce(replies, notices);',
    instead:
      '...folded, outcomes: [] });\n' +
      '        if (outcomes.length < 0) this.#dependencies.announcer.announce(replies, notices);',
    test: {
      file: 'services/intent/test/outages.integration.test.ts',
      name: 'leaves its reply to the next owner, which reads the outcome from the log',
    },
  },
  {
    name: 'A claim that took the place of another is not released',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: 'Math.max(own, live?.attempts ?? 0) + 1',
    instead: 'own + 1',
    test: {
      file: 'packages/domain/test/decide/submissions.unit.test.ts',
      name: 'is not released when it replaced another, because the node may have refused it for that one',
    },
  },
  {
    name: 'A claim that the watcher may broadcast is not released',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: ' &&\n    draft.now - submission.preparedAt < RELEASE_WITHIN_MS',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/submissions.unit.test.ts',
      name: 'is not released by a refusal that comes when the watcher may broadcast it too',
    },
  },
];
