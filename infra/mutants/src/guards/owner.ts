import type { Mutant } from '../mutant.ts';

/** One writer a partition, and what the log gives to whoever writes and reads it. */
export const ownerGuards: readonly Mutant[] = [
  {
    name: 'Taking a partition over fences its former owner',
    file: 'packages/event-log/src/ownership/partition-writer.ts',
    guard: 'await (await producer.transaction()).abort();',
    instead: '',
    test: {
      file: 'packages/event-log/test/ownership/takeover.integration.test.ts',
      name: 'refuses what an owner decided before it was put to sleep and the partition went to another',
    },
  },
  {
    name: 'The projection is brought up to the end of the log before commands are read',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'const position = await this.#catchUp(end, assignment);',
    instead: 'const position = end;',
    test: {
      file: 'packages/event-log/test/ownership/takeover.integration.test.ts',
      name: 'projects what a killed owner has committed and not projected',
    },
  },
  {
    name: 'Where the input stands is asked for after the fence',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard:
      'writer = await openWriter(this.#partition);\n        assignment.throwIfAborted();\n        const hold = await this.#takeUp(writer, assignment);',
    instead:
      'const early = await this.#parts.committed(this.#partition);\n        writer = await openWriter(this.#partition);\n        const hold = { ...(await this.#takeUp(writer, assignment)), next: early };',
    test: {
      file: 'packages/event-log/test/ownership/ownership.integration.test.ts',
      name: 'is where the input stands: it is asked for after the fence, until which the former owner goes on',
    },
  },
  {
    name: 'Events and the offset of their input are one transaction',
    file: 'packages/event-log/src/ownership/partition-writer.ts',
    guard: 'if (consumed) await this.#sendOffset(transaction, consumed);\n    await transaction.commit();',
    instead:
      'await transaction.commit();\n    if (consumed) {\n      const second = await this.#producer.transaction();\n      await this.#sendOffset(second, consumed);\n      await second.commit();\n    }',
    test: {
      file: 'packages/event-log/test/ownership/ownership.integration.test.ts',
      name: 'is that events come with their input’s offset or not at all',
    },
  },
  {
    name: 'A command is answered after its projection',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    instead:
      'work.published(this.#partition, context);\n      if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    test: {
      file: 'packages/event-log/test/ownership/ownership.integration.test.ts',
      name: 'is that a command is answered when the projection shows what became of it, and not before',
    },
  },
  {
    name: 'A member that is told to stop leaves its group',
    file: 'packages/event-log/src/ownership/group-member.ts',
    guard: 'await consumer?.disconnect();',
    instead: '',
    test: {
      file: 'packages/event-log/test/ownership/takeover.integration.test.ts',
      name: 'goes to another process at once after SIGTERM, and nothing is lost or done twice',
    },
  },
  {
    name: 'What happens in a partition happens one after the other, commands and observations alike',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'const result = this.#chain.then(task);',
    instead: 'const result = task();',
    test: {
      file: 'packages/event-log/test/ownership/ownership.integration.test.ts',
      name: 'is that it works on one slice of a partition at a time, of whichever topic',
    },
  },
  {
    name: 'A partition is given up when its projection fails',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    instead: 'if (!(await work.project(this.#partition, hold.position, next, context).catch(() => true))) throw',
    test: {
      file: 'packages/event-log/test/ownership/owner.integration.test.ts',
      name: 'projects what was committed when the projection failed, and goes on behind it',
    },
  },
  {
    name: 'A partition is given up when another has moved its checkpoint',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    instead: 'if (!(await work.project(this.#partition, hold.position, next, context)) && false) throw',
    test: {
      file: 'packages/event-log/test/ownership/owner.integration.test.ts',
      name: 'gives the partition up when somebody else has moved the checkpoint, and takes it up where that one stands',
    },
  },
  {
    name: 'What could not be decided is not passed over',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'this.#fail(hold, error);\n      return false;',
    instead: 'return true;',
    test: {
      file: 'packages/event-log/test/ownership/owner.integration.test.ts',
      name: 'decides a slice again when deciding failed, and loses nothing',
    },
  },
  {
    name: 'A refusal counts only once its offset is committed',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'const base = await hold.writer.commit(append, consumed);',
    instead: 'const base = append.length === 0 ? null : await hold.writer.commit(append, consumed);',
    test: {
      file: 'packages/event-log/test/ownership/owner.integration.test.ts',
      name: 'moves the offset over commands that lead to nothing, and projects their outcome',
    },
  },
  {
    name: 'The owner’s own work waits for the input that was there before it',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (after === null || (hold.next.get(after.topic) ?? 0n) >= after.offset) go(true);',
    instead: 'if (after !== undefined) go(true);',
    test: {
      file: 'packages/event-log/test/ownership/ownership.integration.test.ts',
      name: 'is that its own work comes behind the input that had arrived, decided or not',
    },
  },
  {
    name: 'What is begun is finished before the group is left',
    file: 'packages/event-log/src/ownership/partition-owner.ts',
    guard: 'await Promise.all(this.#partitions.map((partition) => partition.stop()));',
    instead: '',
    test: {
      file: 'packages/event-log/test/ownership/ownership.integration.test.ts',
      name: 'is that its own work, once begun, is finished before it has stopped',
    },
  },
  {
    name: 'Events are read when they are committed, and not before',
    file: 'packages/event-log/src/kafka/cluster.ts',
    guard: 'broker.fetch({ isolationLevel: READ_COMMITTED,',
    instead: 'broker.fetch({ isolationLevel: 0,',
    test: {
      file: 'packages/event-log/test/reading/reader.integration.test.ts',
      name: 'ends at the end given, and shows neither markers nor what was aborted',
    },
  },
  {
    name: 'The end of the log lies before what is not decided yet',
    file: 'packages/event-log/src/kafka/cluster.ts',
    guard: 'allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });',
    instead: 'allowAutoTopicCreation: false, isolationLevel: 0 });',
    test: {
      file: 'packages/event-log/test/reading/reader.integration.test.ts',
      name: 'takes an open transaction for undecided: the end lies before it',
    },
  },
  {
    name: 'A command whose deadline has passed is not sent any more',
    file: 'packages/event-log/src/publisher.ts',
    guard: 'const open = this.#queue.filter((waiting) => waiting.open());',
    instead: 'const open = [...this.#queue];',
    test: {
      file: 'packages/event-log/test/publisher.integration.test.ts',
      name: 'never sends a record whose deadline has passed while the broker was away',
    },
  },
];
