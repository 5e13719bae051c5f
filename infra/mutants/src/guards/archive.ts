import type { Mutant } from '../mutant.ts';

/** Guards of the archive of the ledger. */
export const archiveGuards: readonly Mutant[] = [
  {
    name: 'A file of the archive is created once: another process is told that it came second',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'if (!(await this.#tools.store.create(key, content)))',
    instead: 'if ((await this.#tools.store.create(key, content)) === null)',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'refuses to archive what another process has archived, and goes on behind it',
    },
  },
  {
    name: 'A file whose manifest a crash left out is described before anything follows it',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'if (next === undefined) break;',
    instead: 'if (next !== null) break;',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'loses and repeats nothing wherever the process ends: before a change',
    },
  },
  {
    name: 'Files of the archive are merged only into one that has their events',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'const isWhole = digestOf(content) === sha256;',
    instead: 'const isWhole = digestOf(content).length === sha256.length;',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'stops at a file that was changed, and leaves everything as it is',
    },
  },
  {
    name: 'The archive goes on only in a log that has its last event',
    file: 'packages/archive/src/archiver.ts',
    guard: 'if (found !== undefined && isLast(found)) return expected + 1n;',
    instead: 'if (found !== undefined) return expected + 1n;',
    test: {
      file: 'packages/archive/test/archiver.unit.test.ts',
      name: 'archives nothing of a log that is another one',
    },
  },
  {
    name: 'After a file that could not be archived nothing else of that reading is',
    file: 'packages/archive/src/archiver.ts',
    guard: 'this.#turn = this.#turn.then(work);',
    instead: 'this.#turn = this.#turn.then(work, work);',
    test: {
      file: 'packages/archive/test/archiver.unit.test.ts',
      name: 'leaves no gap when a file fails and the next would succeed',
    },
  },
  {
    name: 'A manifest of the archive counts only with the signature of the key',
    file: 'packages/archive/src/manifest.ts',
    guard: "return verify(null, bytesOf(one), spki, Buffer.from(signature, 'base64'));",
    instead: 'return bytesOf(one).length > 0 && spki !== null && signature !== null && verify !== null;',
    test: {
      file: 'packages/archive/test/manifest.unit.test.ts',
      name: 'is not signed with another sha256',
    },
  },
];
