import type { Mutant } from '../mutant.ts';

/** Guards of the archive of the ledger, and of audits. */
export const archiveGuards: readonly Mutant[] = [
  {
    name: 'A file of the archive is created once: another process is told that it came second',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'if (!(await this.#tools.store.create(key, content)))',
    instead: 'if ((await this.#tools.store.create(key, content)) === null)',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'refuses to archive what another process has archived, and continues after it',
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
      name: 'stops at a file with the same events in other columns',
    },
  },
  {
    name: 'The archive goes on only in a log that has its last event',
    file: 'packages/archive/src/archiver.ts',
    guard: 'if (found !== undefined && isLast(found)) return expected + 1n;',
    instead: 'if (found !== undefined) return expected + 1n;',
    test: {
      file: 'packages/archive/test/archiver.unit.test.ts',
      name: 'archives nothing of another log, with other events at the same offsets',
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
  {
    name: 'An archive in a bucket is created once: a store that would replace it is refused',
    file: 'packages/archive/src/store/s3-store.ts',
    guard: 'if (await this.#create(PROBE, Buffer.from(randomUUID()))) throw new StoreUnfitError(UNFIT);',
    instead: 'if ((await this.#create(PROBE, Buffer.from(randomUUID()))) === null) throw new StoreUnfitError(UNFIT);',
    test: {
      file: 'packages/archive/test/store/s3-store.unit.test.ts',
      name: 'is refused where it ignores If-None-Match, before anything is archived',
    },
  },
  {
    name: 'What a bucket holds after a lost response is taken for ours only with our bytes',
    file: 'packages/archive/src/store/s3-store.ts',
    guard: 'return found !== null && Buffer.compare(found, content) === 0;',
    instead: 'return found !== null;',
    test: {
      file: 'packages/archive/test/store/s3-store.unit.test.ts',
      suite: 'packages/archive/test/store/s3-suite.ts',
      name: 'an object of another process stays, and is known as theirs, though a response was lost',
    },
  },
  {
    name: 'A part of a listing is not taken for the whole archive',
    file: 'packages/archive/src/store/s3-store.ts',
    guard: 'if (next === undefined || next === token)',
    instead: 'if (next === undefined) return keys.sort();\n      if (next === token)',
    test: {
      file: 'packages/archive/test/store/s3-store.unit.test.ts',
      suite: 'packages/archive/test/store/s3-suite.ts',
      name: 'never takes a part of a listing for the whole',
    },
  },
  {
    name: 'A copy of a file of the archive is read only with the bytes of its manifest',
    file: 'packages/archive/src/ledger/local-copies.ts',
    guard: 'const isGood = held !== null && digestOf(held) === file.sha256;',
    instead: 'const isGood = held !== null;',
    test: {
      file: 'packages/archive/test/ledger/local-copies.unit.test.ts',
      name: 'are made again when they were changed or truncated',
    },
  },
  {
    name: 'A query reads files of the archive only with the bytes that are named',
    file: 'packages/archive/src/ledger/local-copies.ts',
    guard: 'const isNamed = digestOf(content) === sha256;',
    instead: 'const isNamed = digestOf(content).length === sha256.length;',
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where a file was changed in place',
    },
  },
  {
    name: 'A query reads only what a signed manifest names',
    file: 'packages/archive/src/ledger/listing.ts',
    guard: "if (!isSignedBy(signers.get(key) ?? '', manifest))",
    instead: "if (!isSignedBy(signers.get(key) ?? '', manifest) && signers.size === 0)",
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where a file was changed, and its manifest with it',
    },
  },
  {
    name: 'A query knows of events that the head names and no file has',
    file: 'packages/archive/src/ledger/listing.ts',
    guard: 'if (head && head.last > (ends.get(head.partition)?.last ?? -1))',
    instead: 'if (head && head.last < 0)',
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where the last file and its manifest are gone, and the head is there',
    },
  },
  {
    name: 'The proof looks at every file, also at those that no manifest names',
    file: 'packages/archive/src/ledger/verify.ts',
    guard: 'if (isNewest || !(await isUnlisted(key, store))) continue;',
    instead: 'if (isNewest || !(await isUnlisted(key, store)) || name !== null) continue;',
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where a forged event lies in a file of its own',
    },
  },
  {
    name: 'The proof asks for every partition of the log',
    file: 'packages/archive/src/ledger/verify.ts',
    guard: '...Array.from({ length: options.partitions ?? 0 }, (_, partition) => partition),',
    instead: '...Array.from({ length: 0 }, (_, partition) => partition),',
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where a partition is gone with its head',
    },
  },
  {
    name: 'An event that the log has had for long is archived, or the proof fails',
    file: 'packages/archive/src/ledger/verify.ts',
    guard: 'else if (goesOnAt !== null && startedAt - goesOnAt > LATE_MS)',
    instead: 'else if (goesOnAt !== null && startedAt - goesOnAt > Infinity)',
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where the last file and its manifest are gone, and the head of then was put back',
    },
  },
  {
    name: 'A manifest describes the file of its own name',
    file: 'packages/archive/src/ledger/verify.ts',
    guard: 'if (!isOfKey(manifest, key)) report',
    instead: 'if (manifest.file.length === 0) report',
    test: {
      file: 'packages/archive/test/ledger/tampered.unit.test.ts',
      name: 'is found out where a partition has the manifests and the head of another',
    },
  },
  {
    name: 'The head that a crash left out is published by whoever opens the partition',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'if (head === null || head.last < last.last)',
    instead: 'if (head === null)',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'publishes the head that a crash left out',
    },
  },
  {
    name: 'A process that slept while others archived and merged gives way, though the name of its file is free again',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'await this.#requireEnd();',
    instead: '',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'assigns no place twice: a process that was suspended while others archived and merged gives way',
    },
  },
  {
    name: 'A merge that another process is about to finish is finished, not undone',
    file: 'packages/archive/src/partition-archive.ts',
    guard: 'await store.create(key, writeManifest(signer.sign(merged)));',
    instead: 'await store.delete([file.key]);',
    test: {
      file: 'packages/archive/test/partition-archive.unit.test.ts',
      name: 'loses nothing where another process begins between the merged file and its manifest',
    },
  },
  {
    name: 'Only an archive that is proven is imported into the log',
    file: 'packages/archive/src/ledger/restore.ts',
    guard: 'if (proof.problems.length > 0)',
    instead: 'if (proof.problems.length > 1_000)',
    test: {
      file: 'packages/archive/test/ledger/restore.unit.test.ts',
      name: 'refuses an archive that is damaged, or that another key has signed, and appends nothing',
    },
  },
  {
    name: 'The archive is imported behind its own events only',
    file: 'packages/archive/src/ledger/restore.ts',
    guard: 'if (hash !== known.hash) throw others(known.count);',
    instead: 'if (hash.length !== known.hash.length) throw others(known.count);',
    test: {
      file: 'packages/archive/test/ledger/restore.unit.test.ts',
      name: 'refuses a log that has other events, and appends nothing',
    },
  },
  {
    name: 'The archive is imported behind what the log had when it was taken from its owner',
    file: 'packages/archive/src/ledger/restore.ts',
    guard: 'const known = await read();',
    instead: 'const known = before;',
    test: {
      file: 'packages/archive/test/ledger/restore.unit.test.ts',
      name: 'appends nothing to a log that its owner has written to until the partition was taken from it',
    },
  },
  {
    name: 'Ended deliveries are read once all transactions of their time have ended',
    file: 'packages/database/src/webhooks/ended-deliveries.ts',
    guard: 'BigInt(row.oldest) >= known.transaction',
    instead: 'BigInt(row.oldest) >= 0n',
    test: {
      file: 'packages/database/test/webhooks/ended-deliveries.integration.test.ts',
      name: 'are not passed over while an earlier one is not committed',
    },
  },
  {
    name: 'A merged file of deliveries stays, though it has the name of one that it was merged from',
    file: 'packages/archive/src/deliveries/delivery-archive.ts',
    guard: '.filter((key) => key !== merged.key)',
    instead: '',
    test: {
      file: 'packages/archive/test/deliveries/delivery-archive.unit.test.ts',
      name: 'has each delivery when a process ends after 4 changes',
    },
  },
  {
    name: 'The journal books no transfer as a deposit that an intent has booked',
    file: 'packages/archive/src/ledger/views.ts',
    guard: 'AND transfers.transfer_index = deposits.transfer_index AND transfers.lost_at IS NULL)',
    instead: 'AND transfers.transfer_index = deposits.deposit_id)',
    test: {
      file: 'packages/archive/test/ledger/ledger.unit.test.ts',
      name: 'books a transfer once that two accounts have as a deposit, or that an intent has too',
    },
  },
  {
    name: 'The journal books a deposit once that two accounts have',
    file: 'packages/archive/src/ledger/views.ts',
    guard: 'PARTITION BY chain, tx_signature, transfer_index ORDER BY undone_at',
    instead: 'PARTITION BY deposit_id ORDER BY undone_at',
    test: {
      file: 'packages/archive/test/ledger/ledger.unit.test.ts',
      name: 'books a transfer once that two accounts have as a deposit, or that an intent has too',
    },
  },
  {
    name: 'An audit of a wallet lets no transaction make up for another',
    file: 'packages/wallet-audit/src/compare.ts',
    guard: 'if (sum !== arrived)',
    instead: 'if (sum !== arrived && tally.sums().difference !== 0n)',
    test: {
      file: 'packages/wallet-audit/test/compare.unit.test.ts',
      name: 'does not let one transaction make up for another',
    },
  },
];
