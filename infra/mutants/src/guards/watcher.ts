import type { Mutant } from '../mutant.ts';

/** What is seen on chain: by one watcher, and all of it. */
export const watcherGuards: readonly Mutant[] = [
  {
    name: 'What a watcher saw is acknowledged by the log before its cursor moves',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'if (!(await publishObservations(publisher, seen, ended, this.#log, () => this.#progress()))) return null;',
    instead: 'publishObservations(publisher, seen, ended, this.#log, () => this.#progress()).catch(() => false);',
    test: {
      file: 'services/watcher/test/watching.integration.test.ts',
      name: 'loses no observation when the log becomes unavailable before the publish and the watcher then ends',
    },
  },
  {
    name: 'A cursor moves only under the newest lease',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND epoch = $2',
    instead: 'SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND $2::bigint > 0',
    test: {
      file: 'packages/database/test/watching/network-watches.integration.test.ts',
      name: 'keeps the cursor for the next holder, and refuses renewals, cursors and releases of the former one',
    },
  },
  {
    name: 'One watcher of a network is active',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'WHERE watch.holder IS NULL OR watch.holder = excluded.holder OR watch.expires_at < clock_timestamp()',
    instead: '',
    test: {
      file: 'packages/database/test/watching/network-watches.integration.test.ts',
      name: 'goes to one of two concurrent holders, and after its release to another in a later epoch',
    },
  },
  {
    name: 'A watcher goes on in the log where its projection ends',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'this.#positions = new Map(positions);',
    instead: 'this.#positions = new Map(positions.size > 99 ? positions : []);',
    test: {
      file: 'services/watcher/test/watch-sets.integration.test.ts',
      name: 'start from the projection and continue with the log after it',
    },
  },
  {
    name: 'No block is read before the intents that were there are known',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'await this.#upToDate();',
    instead: 'if (this.#sets.size === 0) await this.#upToDate();',
    test: {
      file: 'services/watcher/test/watch-sets.integration.test.ts',
      name: 'know every intent in the log when they synchronize, each in the set of its network',
    },
  },
  {
    name: 'A watcher ignores what it has applied',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'if (known && event.version <= known.version) return;',
    instead: '',
    test: {
      file: 'services/watcher/test/watched-intents.unit.test.ts',
      name: 'applies the next version once, ignores known versions, and stops at a gap',
    },
  },
  {
    name: 'A step sees one state of its intents',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'this.#later = [];',
    instead: '',
    test: {
      file: 'services/watcher/test/watch-sets.integration.test.ts',
      name: 'do not change a set while a step holds it, even when another network synchronizes',
    },
  },
  {
    name: 'A gap in an intent’s versions stops the watcher',
    file: 'packages/domain/src/evolve.ts',
    guard: 'if (state?.id !== event.intentId || event.version !== state.version + 1) {',
    instead: 'if (!state) {',
    test: {
      file: 'services/watcher/test/watch-sets.integration.test.ts',
      name: 'stop with an alarm at a missing version',
    },
  },
  {
    name: 'The watch set is brought up to date after the head is learned',
    file: 'packages/chains/src/base/observer.ts',
    guard:
      'const [head, standing] = await node.batch([getHead(), getBlock(newest.number)]);\n' +
      "    if (head === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');\n" +
      '    const watch = await synchronize();',
    instead:
      'const watch = await synchronize();\n' +
      '    const [head, standing] = await node.batch([getHead(), getBlock(newest.number)]);\n' +
      "    if (head === null) throw new RpcUpstreamError(`${node.name} has no newest block`, 'no');",
    test: {
      file: 'packages/chains/test/base/watch-set.integration.test.ts',
      name: 'passes a block only with a watch set that was updated after the block existed',
    },
  },
];
