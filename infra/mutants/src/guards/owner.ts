import type { Mutant } from '../mutant.ts';

/** One writer a partition, and what the log gives to whoever writes and reads it. */
export const ownerGuards: readonly Mutant[] = [
  {
    name: 'Acquiring a partition fences its earlier owner',
    file: 'packages/event-log/src/kafka/taken-id.ts',
    guard: 'await (await this.#producer.transaction()).abort();',
    instead: '',
    test: {
      file: 'packages/event-log/test/transport/kafka.integration.test.ts',
      suite: 'packages/event-log/test/transport/suite.ts',
      name: 'fences a writer when the next one opens, and never shows what it writes later',
    },
  },
  {
    name: 'Acquiring a partition fences those to whom its earlier owner has delegated it',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'former.set(id, await this.#fence(id, requests));',
    instead: 'former.set(id, null);',
    test: {
      file: 'packages/simulation/test/log/shared-writers.unit.test.ts',
      name: 'commit nothing in a partition that another process has taken, events or not',
    },
  },
  {
    name: 'A partition is delegated before its delegate writes it',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'if (this.#delegate !== shared) await this.#delegateTo(shared);',
    instead: 'this.#delegate = shared;',
    test: {
      file: 'packages/simulation/test/log/shared-writers.unit.test.ts',
      name: 'fence the earlier delegate of a partition before its first shared batch',
    },
  },
  {
    name: 'Every delegate is fenced where the delegations are lost',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'for (const id of await requests.delegates()) await fence(id);',
    instead: '',
    test: {
      file: 'packages/simulation/test/log/shared-writers.unit.test.ts',
      name: 'are all fenced where the offsets of the group, and with them the delegations, are lost',
    },
  },
  {
    name: 'A delegation is taken back only where nothing is unknown',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'if (!this.#delegate || this.#failed) return;',
    instead: 'if (!this.#delegate) return;',
    test: {
      file: 'packages/simulation/test/log/shared-writers.unit.test.ts',
      name: 'leave the delegation where a transaction failed, so that the next owner ends it',
    },
  },
  {
    name: 'A delegate begins no transaction before the last has its markers',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'if (!(await this.#lastHasEnded())) this.#end();',
    instead: '',
    test: {
      file: 'packages/simulation/test/log/shared-writers.unit.test.ts',
      name: 'begin no other transaction while the last hangs in one of its partitions',
    },
  },
  {
    name: 'A look that ends late says nothing of a later transaction',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'if (ends && position === this.#lastEnd) this.#sawEnd();',
    instead: 'if (ends) this.#sawEnd();',
    test: {
      file: 'packages/event-log/test/ownership/shared-writers.unit.test.ts',
      name: 'wait for the marker of the last one in a partition where an earlier look ends late',
    },
  },
  {
    name: 'A partition that failed writes alone',
    file: 'packages/event-log/src/ownership/shared-writers.ts',
    guard: 'if (until !== undefined && performance.now() < until) return null;',
    instead: '',
    test: {
      file: 'packages/simulation/test/log/shared-writers.unit.test.ts',
      name: 'write alone after a failure, so that a partition that fails stops no other',
    },
  },
  {
    name: 'No transaction hangs in a partition when its owner decides',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: 'await endHangingTransactions(options, former ? [former, ...delegates] : delegates);',
    instead: '',
    test: {
      file: 'infra/e2e/test/brokers/hanging-transaction.integration.test.ts',
      name: 'is aborted where the fence aborts it, while it is open',
    },
  },
  {
    name: 'What the coordinator knows of a hanging transaction is used before the fence erases it',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: 'await endKnownTransactions(options);',
    instead: '',
    test: {
      file: 'infra/e2e/test/brokers/hanging-transaction.integration.test.ts',
      name: 'is ended while its coordinator still knows that it was committed',
    },
  },
  {
    name: 'A transaction that was open before the fence counts as aborted only where the fence aborted it',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: "if (fences === 2 && raised === 0 && before.state === 'Ongoing') return false;",
    instead: "if (before.state === 'Ongoing') return false;",
    test: {
      file: 'infra/e2e/test/brokers/hanging-transaction.integration.test.ts',
      name: 'is not taken for aborted where the former owner commits it before the fence',
    },
  },
  {
    name: 'A hanging transaction of which something is projected was committed',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: 'if ((await projected()) > open.start) return true;',
    instead: '',
    test: {
      file: 'infra/e2e/test/brokers/hanging-transaction.integration.test.ts',
      name: 'is committed where its events are projected',
    },
  },
  {
    name: 'A hanging transaction with an unknown outcome is not ended by guessing',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: 'if (!former) return null;',
    instead: 'if (!former) return false;',
    test: {
      file: 'infra/e2e/test/brokers/hanging-transaction.integration.test.ts',
      name: 'raises an alarm and keeps its partition without an owner where the outcome is not known',
    },
  },
  {
    name: 'Nothing is appended to a transaction that hangs',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'Promise.allSettled([deciding, this.#requireEnd(hold)])',
    instead: 'Promise.allSettled([deciding, undefined])',
    test: {
      file: 'packages/simulation/test/log/hanging-transaction.unit.test.ts',
      name: 'gets no record of the next batch, and is committed because it is projected',
    },
  },
  {
    name: 'A transaction that hangs is noticed without further input',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: "if (atEnd.status === 'rejected') throw atEnd.reason;\n      } catch",
    instead: '} catch',
    test: {
      file: 'packages/simulation/test/log/hanging-transaction.unit.test.ts',
      name: 'is ended without further input once its partition is checked',
    },
  },
  {
    name: 'A batch whose first record gets another offset is not committed',
    file: 'packages/event-log/src/kafka/taken-id.ts',
    guard: 'if (misplaced.length > 0) {',
    instead: 'if (misplaced.length < 0) {',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'commits no events that would not follow what is projected',
    },
  },
  {
    name: 'A transaction that its coordinator has open is not ended by another',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: 'if (other)\n',
    instead: 'if (other && false)\n',
    test: {
      file: 'infra/e2e/test/brokers/hanging-transaction.integration.test.ts',
      name: 'is left alone while its coordinator has it open',
    },
  },
  {
    name: 'The projection is brought up to the end of the log before commands are read',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'const position = await this.#catchUp(end, assignment);',
    instead: 'const position = end;',
    test: {
      file: 'packages/event-log/test/ownership/handover.integration.test.ts',
      name: 'gets the projection of events that a killed owner committed and did not project',
    },
  },
  {
    name: 'The position of the input is read after the fence',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard:
      'writer = await openWriter(this.#partition, () => work.checkpoint(this.#partition));\n' +
      '        assignment.throwIfAborted();\n' +
      '        const hold = await this.#acquireWith(writer, assignment);',
    instead:
      'const early = await this.#dependencies.committed(this.#partition);\n' +
      '        writer = await openWriter(this.#partition, () => work.checkpoint(this.#partition));\n' +
      '        const hold = { ...(await this.#acquireWith(writer, assignment)), next: early };',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'reads the input’s position after the fence, until which the earlier owner can move it',
    },
  },
  {
    name: 'Events and the offset of their input are one transaction',
    file: 'packages/event-log/src/kafka/taken-id.ts',
    guard: "if (moved.status === 'rejected') throw moved.reason;",
    instead: '',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'commits events together with the offset of their input or not at all',
    },
  },
  {
    name: 'An outcome is published after its projection',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context)))\n          throw',
    instead:
      'work.published(this.#partition, context);\n' +
      '        if (!(await work.project(this.#partition, hold.position, next, context)))\n' +
      '          throw',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'publishes an outcome only after the projection has it',
    },
  },
  {
    name: 'A member that stops leaves its group',
    file: 'packages/event-log/src/kafka/group-member.ts',
    guard: 'const leaving = consumer?.disconnect();',
    instead: 'const leaving = Promise.resolve();',
    test: {
      file: 'packages/event-log/test/ownership/handover.integration.test.ts',
      name: 'has a new owner at once after SIGTERM, and no command is lost or decided twice',
    },
  },
  {
    name: 'A partition has one batch in progress, of commands or observations',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'const result = this.#chain.then(task);',
    instead: 'const result = task();',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'processes one batch of a partition at a time, of either topic',
    },
  },
  {
    name: 'A partition is lost when its projection fails',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context)))\n          throw',
    instead: 'if (!(await work.project(this.#partition, hold.position, next, context).catch(() => true))) throw',
    test: {
      file: 'packages/event-log/test/ownership/partition-owner.integration.test.ts',
      name: 'projects committed events after a failed projection, and goes on after them',
    },
  },
  {
    name: 'A partition is lost when another process has moved its checkpoint',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context)))\n          throw',
    instead: 'if (!(await work.project(this.#partition, hold.position, next, context)) && false) throw',
    test: {
      file: 'packages/event-log/test/ownership/partition-owner.integration.test.ts',
      name: 'loses the partition when another process moved the checkpoint, and reacquires it from there',
    },
  },
  {
    name: 'Nothing is committed that was decided on a database that was set back',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (position !== hold.position) throw new StaleProjectionError',
    instead: 'if (position === -1n) throw new StaleProjectionError',
    test: {
      file: 'services/intent/test/set-back.integration.test.ts',
      name: 'loses no acknowledged command and lets none fork the log',
    },
  },
  {
    name: 'A reader ends when the log does not go on',
    file: 'packages/event-log/src/reading/reader.ts',
    guard: 'if (performance.now() - moved > STANDSTILL_MS) throw await',
    instead: 'if (performance.now() < moved) throw await',
    test: {
      file: 'packages/simulation/test/log/broken-log.unit.test.ts',
      name: 'ends with an error when the log ends before the end that was asked for',
    },
  },
  {
    name: 'A group handles nothing where its stored position is not in the log',
    file: 'packages/event-log/src/reading/group-consumer.ts',
    guard: 'if (position < start || position > end) {',
    instead: 'if (position < 0n) {',
    test: {
      file: 'packages/simulation/test/log/broken-log.unit.test.ts',
      name: 'moves no position and raises one alarm when it starts there, or the log starts after its position',
    },
  },
  {
    name: 'A group refuses a batch that does not begin at its position',
    file: 'packages/event-log/src/reading/group-consumer.ts',
    guard: 'await this.#requireUnbroken(partition, from, batch.from);',
    instead: '',
    test: {
      file: 'packages/simulation/test/log/broken-log.unit.test.ts',
      name: 'handles nothing again, moves no position back, raises one alarm, and goes on elsewhere',
    },
  },
  {
    name: 'An owner decides nothing while the log ends before the projection',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (position > end)',
    instead: 'if (position < 0n)',
    test: {
      file: 'packages/simulation/test/log/broken-log.unit.test.ts',
      name: 'decides nothing while the log ends before the projection, and raises one alarm',
    },
  },
  {
    name: 'Commands of a truncated input are not taken for those that were consumed at their offsets',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (from < done) hold.next.set(topic, from);',
    instead: '',
    test: {
      file: 'packages/simulation/test/log/broken-log.unit.test.ts',
      name: 'decides commands that a truncated input has at offsets that were consumed before',
    },
  },
  {
    name: 'A command whose outcome may be forgotten is not decided',
    file: 'services/intent/src/batch-decider.ts',
    guard: 'if (this.#clock - record.timestamp > OUTCOME_RETENTION_MS) {',
    instead: 'if (this.#clock < 0) {',
    test: {
      file: 'services/intent/test/batch-decider.unit.test.ts',
      name: 'is dropped, whatever its type, when its outcome may have been forgotten',
    },
  },
  {
    name: 'A batch that could not be decided is not skipped',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'this.#fail(hold, error);\n      return false;',
    instead: 'return true;',
    test: {
      file: 'packages/event-log/test/ownership/partition-owner.integration.test.ts',
      name: 'decides a batch again after deciding failed, and loses nothing',
    },
  },
  {
    name: 'A refusal counts only once its offset is committed',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'await timed(() => hold.writer.commit(append, consumed, hold.position), committed);',
    instead:
      'if (append.length > 0) await timed(() => hold.writer.commit(append, consumed, hold.position), committed);',
    test: {
      file: 'packages/event-log/test/ownership/partition-owner.integration.test.ts',
      name: 'moves the offset over commands without events and projects their outcome',
    },
  },
  {
    name: 'The owner’s own work waits for the input that was there before it',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (after === null || (hold.next.get(after.topic) ?? 0n) >= after.offset) go(true);',
    instead: 'if (after !== undefined) go(true);',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'runs the owner’s own work after the input that had arrived, decided or not',
    },
  },
  {
    name: 'Work in progress is finished before the process leaves the group',
    file: 'packages/event-log/src/ownership/partition-owner.ts',
    guard: 'await Promise.all(this.#partitions.map((partition) => partition.stop()));',
    instead: '',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'finishes the owner’s own work before it has stopped',
    },
  },
  {
    name: 'Events are read when they are committed, and not before',
    file: 'packages/event-log/src/kafka/cluster.ts',
    guard: 'broker.fetch({\n      isolationLevel: READ_COMMITTED,',
    instead: 'broker.fetch({\n      isolationLevel: 0,',
    test: {
      file: 'packages/event-log/test/reading/reader.integration.test.ts',
      name: 'reads up to the given end without markers and aborted records',
    },
  },
  {
    name: 'The end of the log is before an open transaction',
    file: 'packages/event-log/src/kafka/cluster.ts',
    guard: 'allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });',
    instead: 'allowAutoTopicCreation: false, isolationLevel: 0 });',
    test: {
      file: 'packages/event-log/test/reading/reader.integration.test.ts',
      name: 'has the end of the log before an open transaction',
    },
  },
  {
    name: 'A command whose deadline has passed is not sent',
    file: 'packages/event-log/src/publisher.ts',
    guard: 'const open = this.#queue.filter((waiting) => waiting.open());',
    instead: 'const open = [...this.#queue];',
    test: {
      file: 'packages/event-log/test/publisher.integration.test.ts',
      name: 'never sends a record whose deadline passed while the broker was unavailable',
    },
  },
];
