import type { Mutant } from '../mutant.ts';

/** What is decided, once and in order, and what is projected of it. */
export const writerGuards: readonly Mutant[] = [
  {
    name: 'The projection moves only from where its checkpoint stands',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'WHERE checkpoint.partition = batch.partition AND checkpoint.position = batch.position',
    instead: 'WHERE checkpoint.partition = batch.partition',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'writes it once: at another checkpoint nothing changes',
    },
  },
  {
    name: 'A row changes only from the version before',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'intent.id = changed.id AND intent.version = changed.before',
    instead: 'intent.id = changed.id',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'writes nothing of it if one intent is at another version',
    },
  },
  {
    name: 'A batch of which one row is missing is not projected',
    file: 'packages/database/src/ledger/projection.ts',
    guard:
      'position = CASE WHEN (SELECT count(*) FROM changed WHERE changed.partition = held.partition) =\n' +
      '        cardinality(array_positions($${changedPartitions}::smallint[], held.partition))\n',
    instead: 'position = CASE WHEN true\n',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
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
    name: 'A version that the log repeats stops the writer that catches up',
    file: 'packages/database/src/ledger/fold.ts',
    guard: 'if (!isRepeated(state, event)) return folded(state, event);',
    instead: 'return isRepeated(state, event) ? null : folded(state, event);',
    test: {
      file: 'services/intent/test/catch-up.integration.test.ts',
      name: 'stops at a version that the log repeats, with an alarm, and writes nothing',
    },
  },
  {
    name: 'A projection that fails in one partition stops no other',
    file: 'packages/runtime/src/gathering.ts',
    guard: 'if (waiting.length > 1) await Promise.all(waiting.map((one) => this.#send([one])));\n      else for',
    instead: 'for',
    test: {
      file: 'services/intent/test/gathered-ledger.unit.test.ts',
      name: 'repeats a statement of several that fails for each of them, so that one failure stops no other',
    },
  },
  {
    name: 'No backend waits for a projection during a rebuild',
    file: 'packages/database/src/ledger/projection.ts',
    guard: 'FOR UPDATE OF checkpoint NOWAIT',
    instead: 'FOR UPDATE OF checkpoint',
    test: {
      file: 'services/intent/test/rebuild.integration.test.ts',
      name: 'lets the writer’s projections fail at once during the switch, and it recovers afterwards',
    },
  },
  {
    name: 'A damaged log is not rebuilt from without being told',
    file: 'packages/database/src/ledger/rebuild.ts',
    guard: 'if (!acceptLog && (end < projected || report.faultCount > 0)) throw new UnsoundLogError(report);',
    instead: '',
    test: {
      file: 'packages/database/test/ledger/rebuild.integration.test.ts',
      name: 'refuses a log that ends before the projection, and goes back to its end only where it is told to',
    },
  },
  {
    name: 'A partition is written to while it is rebuilt',
    file: 'packages/database/src/ledger/rebuild.ts',
    guard: "const projected = await projectedUpTo(client, partition, '');\n    await refold",
    instead: "const projected = await projectedUpTo(client, partition, 'FOR UPDATE');\n    await refold",
    test: {
      file: 'services/intent/test/rebuild.integration.test.ts',
      name: 'leaves the partition writable, and takes over what the writer appends meanwhile',
    },
  },
  {
    name: 'A rebuild writes what no writer has projected',
    file: 'packages/database/src/ledger/rebuild.ts',
    guard: 'refold.suspects = SUSPECTS;',
    instead: '',
    test: {
      file: 'services/intent/test/rebuild.integration.test.ts',
      name: 'writes the intents, and the outcomes of commands, whose events were not projected before a rebuild',
    },
  },
  {
    name: 'A rebuild replaces histories without a row, too',
    file: 'packages/database/src/ledger/rebuild.ts',
    guard: 'const orphans = await orphansOf(client, partition);',
    instead: 'const orphans: readonly string[] = [];',
    test: {
      file: 'packages/database/test/ledger/rebuild.integration.test.ts',
      name: 'finds missing and surplus rows, also those without their intent, and a rebuild repairs both',
    },
  },
  {
    name: 'A writer catches up only with rows as of its checkpoint',
    file: 'services/intent/src/writer.ts',
    guard: 'if (position !== from) return false;',
    instead: '',
    test: {
      file: 'services/intent/test/catch-up.integration.test.ts',
      name: 'leaves alone what another owner has projected since its checkpoint was read',
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
      name: 'leaves no trace of a refused command in the log, even when the expiry of a refund released its original',
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
    guard: 'this.#clock - record.timestamp > LATE_AFTER_MS',
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
      'this.#deadLetter(\n        record,\n        headOf(message),\n' +
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
    name: 'A dead-lettered observation can be processed again from its letter',
    file: 'services/intent/src/batch-decider.ts',
    guard: "payload: topic === 'chain.observations' && value !== null && fits(value) ? value : null,",
    instead: 'payload: fits("") ? null : value,',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'becomes a dead letter with its partition and offset, and the next command is decided',
    },
  },
  {
    name: 'An observation is believed of its own network alone',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'chain !== undefined && chain !== by',
    instead: 'chain === by && chain !== by',
    test: {
      file: 'services/intent/test/observation-authors.unit.test.ts',
      name: 'is refused where it is the watcher of another network',
    },
  },
  {
    name: 'An observation is believed that is signed with the key of its network',
    file: 'services/intent/src/observation-authors.ts',
    guard: 'if (isSignedBy(this.#keysOf(chain), value)) return null;',
    instead: 'if (isSignedObservation(value)) return null;',
    test: {
      file: 'services/intent/test/observation-authors.unit.test.ts',
      name: 'is refused where it names the network of the intent without its key',
    },
  },
  {
    name: 'An observation without a signature is believed only while it is allowed',
    file: 'services/intent/src/observation-authors.ts',
    guard: 'this.#acceptUnsigned ? null',
    instead: 'value.length > 0 ? null',
    test: {
      file: 'services/intent/test/observation-authors.unit.test.ts',
      name: 'is refused where it does not sign',
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
    file: 'packages/clock/src/partition-times.ts',
    guard: 'Math.max(clock, this.#last.get(partition) ?? 0)',
    instead: 'clock',
    test: {
      file: 'services/intent/test/writer.integration.test.ts',
      name: 'never goes back, though the next writer’s clock is behind',
    },
  },
  {
    name: 'The next owner sends the replies that a killed one owed',
    file: 'services/intent/src/writer.ts',
    guard: 'outcomes,\n          keys: recovered,\n        });\n        if (projected) this.#dependencies.announcer',
    instead:
      'outcomes: [],\n          keys: recovered,\n        });\n' +
      '        if (outcomes.length < 0) this.#dependencies.announcer',
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
  {
    name: 'A refund is claimed only while its original payment stands',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: 'if (undone !== null) return refuseWith(undone);',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/refunds.unit.test.ts',
      name: 'can neither be built nor submitted',
    },
  },
  {
    name: 'A refund is cancelled when its original payment has failed',
    file: 'packages/domain/src/decide/refunding.ts',
    guard: "if (status !== 'failed' || refundedBy === null || draft.isHeld(refundedBy)) return;",
    instead: 'if (status !== null || refundedBy === null) return;',
    test: {
      file: 'packages/domain/test/decide/refunds.unit.test.ts',
      name: 'is cancelled and released when the payment is proven dead',
    },
  },
  {
    name: 'A refund that is claimed is not cancelled',
    file: 'packages/domain/src/decide/refunding.ts',
    guard: "if (refund.status !== 'created' || liveSubmission(refund) !== undefined) return;",
    instead: "if (refund.status !== 'created') return;",
    test: { file: 'packages/domain/test/decide/refunds.unit.test.ts', name: 'keeps its claim' },
  },
  {
    name: 'Decisions about an intent see its refund',
    file: 'packages/database/src/ledger/intent-states.ts',
    guard: 'UNION SELECT refunded_by FROM named WHERE refunded_by IS NOT NULL)\n        UNION ALL',
    instead: ')\n        UNION ALL',
    test: {
      file: 'services/intent/test/contention.integration.test.ts',
      name: 'is neither claimed nor left open after its original payment was undone',
    },
  },
  {
    name: 'An intent has a bounded number of builds',
    file: 'packages/domain/src/decide/building.ts',
    guard: "intent.version >= RECORDED_BUILDS[build?.fulfiller === fulfiller ? 'again' : 'other']",
    instead: "intent.version >= RECORDED_BUILDS[build?.fulfiller === fulfiller ? 'again' : 'other'] && draft.now < 0",
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'An intent has a bounded number of submissions',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: 'if (limit !== null) {',
    instead: 'if (limit !== null && live === null) {',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'The submissions of one wallet are not counted for another',
    file: 'packages/domain/src/model/limits.ts',
    guard: 'intent.submissions.filter(({ sender }) => sender === wallet)',
    instead: 'intent.submissions.filter(() => wallet.length > 0)',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'are limited for a wallet that submits different transactions, and not for others',
    },
  },
  {
    name: 'A released transaction that is submitted again counts again',
    file: 'packages/domain/src/decide/submitting.ts',
    guard: 'claimsOf(earlier) + 1;',
    instead: 'claimsOf(earlier);',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'are counted when a released transaction is submitted again, and when it replaces another',
    },
  },
  {
    name: 'An intent has a bounded number of updates',
    file: 'packages/domain/src/decide/updating.ts',
    guard: 'if (limit !== null) return refuseWith(limit);',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'An intent has a bounded number of simulations',
    file: 'packages/domain/src/decide/simulating.ts',
    guard: 'if (limit !== null) return refuseWith(limit);',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'An intent has a bounded number of refunds',
    file: 'packages/domain/src/decide/refunding.ts',
    guard: 'if (limit !== null) return refuseWith(limit);',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'Dust is recorded up to a limit',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "if (!isRecorded(intent, landing, isCheap(intent, landing) ? 'dust' : 'mismatched')) return false;",
    instead: '',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'Dust leaves room for real amounts',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "isCheap(intent, landing) ? 'dust' : 'mismatched'",
    instead: "'mismatched'",
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'unexpected transfers are told of however much dust came before',
    },
  },
  {
    name: 'A report that proved wrong is withdrawn, and its payment counts',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'const isWithdrawn = differs.length === 0 && isMismatched(before, landing);',
    instead: 'const isWithdrawn = false;',
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'a payment that is proven after it was reported settles the intent where a claim had reported it',
    },
  },
  {
    name: 'Less than its amount pays no intent',
    file: 'packages/domain/src/model/terms.ts',
    guard: 'amount >= amountBaseUnits && amount < AMOUNT_LIMIT',
    instead: 'amount < AMOUNT_LIMIT',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'is not paid by less, by another recipient or sender',
    },
  },
  {
    name: 'More than its amount pays only an intent that accepts it',
    file: 'packages/domain/src/model/terms.ts',
    guard: ': amount === amountBaseUnits;',
    instead: ': amount >= amountBaseUnits;',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'an intent of exactly its amount is not paid by more, as ever',
    },
  },
  {
    name: 'A refund returns no more than has arrived',
    file: 'packages/domain/src/model/refusal.ts',
    guard: 'refund.amountBaseUnits > amountReceived',
    instead: 'refund.amountBaseUnits < 0n',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'gives back no more than what has arrived',
    },
  },
  {
    name: 'An overpayment is told once it is final',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'if (more > 0n)',
    instead: 'if (more < 0n)',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'is paid by one transfer of more, and tells by how much once that is final',
    },
  },
  {
    name: 'An extra payment that brings another amount in another block is told again',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'moved?.transfer.amount === landing.transfer.amount',
    instead: 'moved !== undefined',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'tells of an extra payment again that brings another amount, at the same index or another',
    },
  },
  {
    name: 'Two amounts of one transaction are kept apart when it moves',
    file: 'packages/domain/src/model/landing.ts',
    guard: 'moved.find((one) => one.transfer.amount === amount) ??',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'keeps them apart where they have changed places',
    },
  },
  {
    name: 'What was told as an extra payment does not settle the intent in place of its own transaction’s payment',
    file: 'packages/domain/src/decide/observing.ts',
    guard: '(!isFinal && !isLeft && isBesideLost(intent, landing))',
    instead: 'false',
    test: {
      file: 'packages/domain/test/decide/at-least.unit.test.ts',
      name: 'keeps them apart after it was seen',
    },
  },
  {
    name: 'Older code does not take an intent of at least its amount for one of exactly that',
    file: 'packages/contracts/src/messages.ts',
    guard: "'accept' in data ? versionOf(FORMATS.event) : EVENT_SCHEMA_VERSION",
    instead: "'accept' in data ? EVENT_SCHEMA_VERSION : EVENT_SCHEMA_VERSION",
    test: {
      file: 'services/intent/test/batch-decider.unit.test.ts',
      name: 'gives the creation of an intent that more than its amount may pay a version of its own',
    },
  },
  {
    name: 'A send intent is settled only by the wallet that it names',
    file: 'packages/domain/src/model/terms.ts',
    guard: "if (payerProblem(intent, transfer.from) !== null) differs.push('sender');",
    instead: "if (transfer.from === transfer.to) differs.push('sender');",
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'an intent of direction send is not settled by another wallet, whose payment is reported',
    },
  },
  {
    name: 'Claimed credits are worth what was gained at most',
    file: 'packages/domain/src/model/gain.ts',
    guard: 'const left = (gained < explained ? gained : explained) - (credited - claims);',
    instead: 'const left = credited;',
    test: {
      file: 'packages/domain/test/model/gain.unit.test.ts',
      name: 'worthOf counts nothing that went back',
    },
  },
  {
    name: 'What nothing explains pays for nothing',
    file: 'packages/domain/src/model/gain.ts',
    guard: '(gained < explained ? gained : explained)',
    instead: 'gained',
    test: {
      file: 'packages/domain/test/model/gain.unit.test.ts',
      name: 'worthOf gives to no claim what no transfer explains',
    },
  },
  {
    name: 'An extra payment that a reorg moves is told of once',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'if (moved !== undefined && intent.accept === undefined) return;',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'makes no second extra payment of a transaction that it moves',
    },
  },
  {
    name: 'Extra payments are recorded up to a limit',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "if (moved === undefined && !isRecorded(intent, landing, 'extra')) return;",
    instead: '',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'stays within its bounds, whatever is repeated in whatever order',
    },
  },
  {
    name: 'The end of a live submission is recorded beyond the limit too',
    file: 'packages/domain/src/decide/observing.ts',
    guard: ' || isLive(intent, hash);',
    instead: ';',
    test: {
      file: 'packages/domain/test/decide/limits.unit.test.ts',
      name: 'end a live submission beyond the limit too',
    },
  },
  {
    name: 'Nothing is decided about an intent that newer code has changed',
    file: 'packages/domain/src/decide/draft.ts',
    guard: 'if (intent?.heldFrom !== undefined)',
    instead: 'if (intent === null)',
    test: {
      file: 'packages/domain/test/decide/held.unit.test.ts',
      name: 'leaves observations and its expiry to the code that understands it',
    },
  },
  {
    name: 'An intent stays held after an event that is understood',
    file: 'packages/database/src/ledger/fold.ts',
    guard: 'isForeign(event) || state?.heldFrom !== undefined',
    instead: 'isForeign(event)',
    test: {
      file: 'services/intent/test/evolution.integration.test.ts',
      name: 'holds an intent whose creation it is',
    },
  },
  {
    name: 'A newer schema version is not guessed at',
    file: 'packages/contracts/src/evolution.ts',
    guard: 'if (version > versionOf(format))',
    instead: 'if (version < 0)',
    test: {
      file: 'packages/contracts/test/evolution/evolution.unit.test.ts',
      name: 'is refused as a state, a command, an observation and an outcome, by its version',
    },
  },
  {
    name: 'Fields that newer code has added to a stored intent survive',
    file: 'packages/contracts/src/intent-state.ts',
    guard: 'const paymentIntent = z.looseObject({',
    instead: 'const paymentIntent = z.object({',
    test: {
      file: 'services/intent/test/evolution.integration.test.ts',
      name: 'keep them when this version changes the intents',
    },
  },
  {
    name: 'A row that cannot be decoded is a held intent for the writer',
    file: 'packages/database/src/ledger/decoding.ts',
    guard: 'return decoded.flatMap(({ id, intent }) => intent ?? held.get(id) ?? []);',
    instead: 'return decoded.flatMap(({ intent }) => intent ?? []);',
    test: {
      file: 'services/intent/test/evolution.integration.test.ts',
      name: 'makes only its own intent unavailable',
    },
  },
  {
    name: 'Held intents keep no other from expiring',
    file: 'services/intent/src/expiry.ts',
    guard: 'if (last) this.#after.set(partition, last);',
    instead: 'if (last && partition < 0) this.#after.set(partition, last);',
    test: {
      file: 'services/intent/test/expiry.unit.test.ts',
      name: 'reaches every overdue intent, however many of the oldest cannot expire',
    },
  },
  {
    name: 'An extra payment that turns out to be that of another intent is told to the operator',
    file: 'packages/domain/src/model/landing.ts',
    guard:
      'intent.extraPayments.some((one) => one.depositId === undefined && transferKey(one) === transferKey(landing))',
    instead: 'intent.extraPayments.length < 0',
    test: {
      file: 'services/intent/test/wrong-extras.unit.test.ts',
      name: 'is passed on to be told, and changes nothing',
    },
  },
  {
    name: 'The operator is told of a wrong extra payment once',
    file: 'services/intent/src/wrong-extras.ts',
    guard: 'if (this.#told.get(name) !== undefined) return;',
    instead: '',
    test: {
      file: 'services/intent/test/wrong-extras.unit.test.ts',
      name: 'is told of each wrong extra payment once',
    },
  },
  {
    name: 'An event that takes the place of a lost one has another id',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'eventId: eventIdOf(intent.id, event.version, event.at),',
    instead: 'eventId: eventIdOf(intent.id, event.version),',
    test: {
      file: 'services/intent/test/batch-decider.unit.test.ts',
      name: 'gives an event that takes the place of a lost one another id, so that it is delivered, too',
    },
  },
  {
    name: 'Large changes of one account leave turns to other work',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'if (this.#characters < end) continue;',
    instead: 'if (this.#characters < Infinity) continue;',
    test: {
      file: 'services/intent/test/batch-decider.unit.test.ts',
      name: 'lets the process do other work while one account changes many intents with much metadata',
    },
  },
];
