/** A guard of an invariant, how to take it out, and the test that must notice. */
export interface Mutant {
  /** The guard, as a reader of docs/reliability.md understands it. */
  readonly name: string;
  readonly file: string;
  /** Exact text that stands once in the file. */
  readonly guard: string;
  readonly instead: string;
  readonly test: {
    readonly file: string;
    /** A part of its full name that no other test has. */
    readonly name: string;
  };
}

/** In the order of the invariants of docs/architecture.md. Those of one test file run together. */
export const mutants: readonly Mutant[] = [
  {
    name: 'Taking a partition over fences its former owner',
    file: 'packages/event-log/src/partition-writer.ts',
    guard: 'await (await producer.transaction()).abort();',
    instead: '',
    test: { file: 'packages/event-log/test/takeover.integration.test.ts', name: 'refuses what an owner decided before it was put to sleep and the partition went to another' },
  },
  {
    name: 'The projection is brought up to the end of the log before commands are read',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'const position = await this.#catchUp(end, assignment);',
    instead: 'const position = end;',
    test: { file: 'packages/event-log/test/takeover.integration.test.ts', name: 'projects what a killed owner has committed and not projected' },
  },
  {
    name: 'Where the input stands is asked for after the fence',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'writer = await openWriter(this.#partition);\n        assignment.throwIfAborted();\n        const hold = await this.#takeUp(writer, assignment);',
    instead: 'const early = await this.#parts.committed(this.#partition);\n        writer = await openWriter(this.#partition);\n        const hold = { ...(await this.#takeUp(writer, assignment)), next: early };',
    test: { file: 'packages/event-log/test/ownership.integration.test.ts', name: 'is where the input stands: it is asked for after the fence, until which the former owner goes on' },
  },
  {
    name: 'Events and the offset of their input are one transaction',
    file: 'packages/event-log/src/partition-writer.ts',
    guard: 'if (consumed) await this.#sendOffset(transaction, consumed);\n    await transaction.commit();',
    instead: 'await transaction.commit();\n    if (consumed) {\n      const second = await this.#producer.transaction();\n      await this.#sendOffset(second, consumed);\n      await second.commit();\n    }',
    test: { file: 'packages/event-log/test/ownership.integration.test.ts', name: 'is that events come with their input’s offset or not at all' },
  },
  {
    name: 'A command is answered after its projection',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    instead: 'work.published(this.#partition, context);\n      if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    test: { file: 'packages/event-log/test/ownership.integration.test.ts', name: 'is that a command is answered when the projection shows what became of it, and not before' },
  },
  {
    name: 'A member that is told to stop leaves its group',
    file: 'packages/event-log/src/group-member.ts',
    guard: 'await consumer?.disconnect();',
    instead: '',
    test: { file: 'packages/event-log/test/takeover.integration.test.ts', name: 'goes to another process at once after SIGTERM, and nothing is lost or done twice' },
  },
  {
    name: 'What happens in a partition happens one after the other, commands and observations alike',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'const result = this.#chain.then(task);',
    instead: 'const result = task();',
    test: { file: 'packages/event-log/test/owner.integration.test.ts', name: 'handles the commands of a partition in order, and takes turns with the other topic while many wait' },
  },
  {
    name: 'A partition is given up when its projection fails',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    instead: 'if (!(await work.project(this.#partition, hold.position, next, context).catch(() => true))) throw',
    test: { file: 'packages/event-log/test/owner.integration.test.ts', name: 'projects what was committed when the projection failed, and goes on behind it' },
  },
  {
    name: 'A partition is given up when another has moved its checkpoint',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'if (!(await work.project(this.#partition, hold.position, next, context))) throw',
    instead: 'if (!(await work.project(this.#partition, hold.position, next, context)) && false) throw',
    test: { file: 'packages/event-log/test/owner.integration.test.ts', name: 'gives the partition up when somebody else has moved the checkpoint, and takes it up where that one stands' },
  },
  {
    name: 'A refusal counts only once its offset is committed',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'const base = await hold.writer.commit(append, consumed);',
    instead: 'const base = append.length === 0 ? null : await hold.writer.commit(append, consumed);',
    test: { file: 'packages/event-log/test/owner.integration.test.ts', name: 'moves the offset over commands that lead to nothing, and projects their outcome' },
  },
  {
    name: 'The owner’s own work waits for the input that was there before it',
    file: 'packages/event-log/src/owned-partition.ts',
    guard: 'if (after === null || (hold.next.get(after.topic) ?? 0n) >= after.offset) go(true);',
    instead: 'if (after !== undefined) go(true);',
    test: { file: 'packages/event-log/test/ownership.integration.test.ts', name: 'is that its own work comes behind the input that had arrived, decided or not' },
  },
  {
    name: 'What is begun is finished before the group is left',
    file: 'packages/event-log/src/partition-owner.ts',
    guard: 'await Promise.all(this.#partitions.map((partition) => partition.stop()));',
    instead: '',
    test: { file: 'packages/event-log/test/ownership.integration.test.ts', name: 'is that its own work, once begun, is finished before it has stopped' },
  },
  {
    name: 'Events are read when they are committed, and not before',
    file: 'packages/event-log/src/cluster.ts',
    guard: 'broker.fetch({ isolationLevel: READ_COMMITTED,',
    instead: 'broker.fetch({ isolationLevel: 0,',
    test: { file: 'packages/event-log/test/reader.integration.test.ts', name: 'ends at the end given, and shows neither markers nor what was aborted' },
  },
  {
    name: 'The end of the log lies before what is not decided yet',
    file: 'packages/event-log/src/cluster.ts',
    guard: 'allowAutoTopicCreation: false, isolationLevel: READ_COMMITTED });',
    instead: 'allowAutoTopicCreation: false, isolationLevel: 0 });',
    test: { file: 'packages/event-log/test/reader.integration.test.ts', name: 'takes an open transaction for undecided: the end lies before it' },
  },
  {
    name: 'A command whose deadline has passed is not sent any more',
    file: 'packages/event-log/src/publisher.ts',
    guard: 'const open = this.#queue.filter((waiting) => waiting.open());',
    instead: 'const open = [...this.#queue];',
    test: { file: 'packages/event-log/test/publisher.integration.test.ts', name: 'never sends a record whose deadline has passed while the broker was away' },
  },
  {
    name: 'What a watcher saw is acknowledged by the log before its cursor moves',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'if (!(await publishObservations(publisher, step.observations, ended, this.#log, () => this.#progress()))) return null;',
    instead: 'publishObservations(publisher, step.observations, ended, this.#log, () => this.#progress()).catch(() => false);',
    test: { file: 'services/watcher/test/watching.integration.test.ts', name: 'loses no observation when the log goes away between the scan and the publish, and the watcher then' },
  },
  {
    name: 'A cursor moves only under the newest lease',
    file: 'packages/database/src/network-watches.ts',
    guard: 'SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND epoch = $2',
    instead: 'SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND $2::bigint > 0',
    test: { file: 'services/watcher/test/lease.integration.test.ts', name: 'keeps the cursor for the next holder, and refuses the former one' },
  },
  {
    name: 'One watcher of a network is active',
    file: 'packages/database/src/network-watches.ts',
    guard: 'WHERE watch.holder IS NULL OR watch.holder = excluded.holder OR watch.expires_at < clock_timestamp()',
    instead: '',
    test: { file: 'services/watcher/test/lease.integration.test.ts', name: 'goes to one of two who ask at once, and to the other when it is given back, in a later epoch' },
  },
  {
    name: 'A watcher goes on in the log where its projection ends',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'this.#positions = new Map(positions);',
    instead: 'this.#positions = new Map(positions.size > 99 ? positions : []);',
    test: { file: 'services/watcher/test/watch-sets.integration.test.ts', name: 'begin with the projection and go on with the log behind it' },
  },
  {
    name: 'No block is read before the intents that were there are known',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'await this.#upToDate();',
    instead: 'if (this.#sets.size === 0) await this.#upToDate();',
    test: { file: 'services/watcher/test/watch-sets.integration.test.ts', name: 'know every intent that was in the log when they were asked, each in the set of its network' },
  },
  {
    name: 'A watcher ignores what it has applied',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'if (known && event.version <= known.version) return;',
    instead: '',
    test: { file: 'services/watcher/test/watched-intents.unit.test.ts', name: 'applies the next version once, ignores what it has seen, and stops at a gap' },
  },
  {
    name: 'A step sees one state of its intents',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'this.#later = [];',
    instead: '',
    test: { file: 'services/watcher/test/watch-sets.integration.test.ts', name: 'leave a set alone while a step of its network uses it, whatever another network asks for' },
  },
];
