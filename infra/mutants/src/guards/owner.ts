import type { Mutant } from '../mutant.ts';

/** One writer a partition, and what the log gives to whoever writes and reads it. */
export const ownerGuards: readonly Mutant[] = [
  {
    name: 'Acquiring a partition fences its earlier owner',
    file: 'packages/event-log/src/ownership/partition-writer.ts',
    guard: 'await (await producer.transaction()).abort();',
    instead: '',
    test: {
      file: 'packages/event-log/test/ownership/handover.integration.test.ts',
      name: 'rejects the commit of an earlier owner that was suspended while the partition moved',
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
      'writer = await openWriter(this.#partition);\n        assignment.throwIfAborted();\n' +
      '        const hold = await this.#acquireWith(writer, assignment);',
    instead:
      'const early = await this.#dependencies.committed(this.#partition);\n' +
      '        writer = await openWriter(this.#partition);\n' +
      '        const hold = { ...(await this.#acquireWith(writer, assignment)), next: early };',
    test: {
      file: 'packages/event-log/test/ownership/order-of-steps.integration.test.ts',
      name: 'reads the input’s position after the fence, until which the earlier owner can move it',
    },
  },
  {
    name: 'Events and the offset of their input are one transaction',
    file: 'packages/event-log/src/ownership/partition-writer.ts',
    guard: 'if (consumed) await this.#sendOffset(transaction, consumed);\n    await transaction.commit();',
    instead:
      'await transaction.commit();\n    if (consumed) {\n' +
      '      const second = await this.#producer.transaction();\n' +
      '      await this.#sendOffset(second, consumed);\n      await second.commit();\n    }',
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
    file: 'packages/event-log/src/ownership/group-member.ts',
    guard: 'await consumer?.disconnect();',
    instead: '',
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
    guard: 'const base = await timed(() => hold.writer.commit(append, consumed), committed);',
    instead:
      'const base = append.length === 0 ? null : await timed(() => hold.writer.commit(append, consumed), committed);',
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
