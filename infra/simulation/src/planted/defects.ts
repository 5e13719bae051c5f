import type { Planted } from './planted.ts';

/** Defects that the service once had, or could have, and that no guard of infra/mutants stands against. */
export const defects: readonly Planted[] = [
  {
    name: 'A watcher does not look for intents that have long ended',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'if (!this.#has(id)) wanted.set(id, this.#woken.get(id)?.version ?? version);',
    instead: 'if (this.#has(id)) wanted.set(id, version);',
  },
  {
    name: 'A reorganization that undoes a payment is not noticed',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "if (!settles || (intent.status !== 'confirmed' && intent.status !== 'finalized')) return;",
    instead: 'if (settles || !settles) return;',
  },
  {
    name: 'A transaction whose broadcast was never heard of is not broadcast again',
    file: 'packages/domain/src/model/submission.ts',
    guard: '(broadcastAt === null ? preparedAt + Math.max(UNRELEASABLE_AFTER_MS, everyMs) : broadcastAt + everyMs)',
    instead: '(broadcastAt === null ? Infinity : broadcastAt + everyMs)',
  },
  {
    name: 'A refund can be paid after its payment was undone',
    file: 'packages/domain/src/model/refusal.ts',
    guard: "(status === 'confirmed' || status === 'finalized') && settlement?.lost !== true;",
    instead: "(status === 'confirmed' || status === 'finalized') && settlement !== null;",
  },
  {
    name: 'A process with a wrong clock owns partitions',
    file: 'packages/clock/src/lead.ts',
    guard: "if (least > CLOCK_TOLERANCE_MS || most < -CLOCK_TOLERANCE_MS) return 'wrong';",
    instead: "if (least <= most) return 'right';",
  },
  {
    name: 'An intent expires half a minute early',
    file: 'packages/domain/src/decide/expiring.ts',
    guard: 'clock >= intent.expiresAt',
    instead: 'clock >= intent.expiresAt - 30_000',
  },
  {
    name: 'Only the first event of a batch gets its webhooks',
    file: 'services/webhook/src/event-consumer.ts',
    guard: 'partition, from, next, events })',
    instead: 'partition, from, next, events: events.slice(0, 1) })',
  },
  {
    name: 'A late payment of an expired intent is not counted',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "    case 'expired':\n    case 'failed':\n    case 'cancelled':\n      return settle(",
    instead: "    case 'expired':\n      return;\n    case 'failed':\n    case 'cancelled':\n      return settle(",
  },
  {
    name: 'An update with a stale updatedAt is accepted, and overwrites the metadata',
    file: 'packages/domain/src/decide/updating.ts',
    guard: 'if (updatedAt !== intent.updatedAt) {',
    instead: 'if (updatedAt > intent.updatedAt) {',
  },
  {
    name: 'Blocks are read a second time from the upstream that has left something out',
    file: 'packages/chains/src/evm/observe/reading.ts',
    guard: 'const readings = await pool.doubleCheck(node, firstReader, read);',
    instead: 'const readings = [await read(node)];',
  },
  {
    name: 'Blocks are read a second time from another upstream than the one in use, which may be the first again',
    file: 'packages/chains/src/evm/observe/reading.ts',
    guard: 'const readings = await pool.doubleCheck(node, firstReader, read);',
    instead: 'const readings = await pool.doubleCheck(node, node.name, read);',
  },
  {
    name: 'A payment that a reorganization has undone is not broadcast again',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'if (settlement.lost) consider(id, settlement.hash, `lost ${settlement.hash}`, 0, now);',
    instead: 'if (settlement.lost) continue;',
  },
  {
    name: 'A hanging transaction is not ended',
    file: 'packages/event-log/src/kafka/hanging-transaction.ts',
    guard: 'await cluster.endTransaction(topic, partition, open, committed);',
    instead: '',
  },
  {
    name: 'Only one live submission gets its turns to be broadcast again',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard:
      'const round = longestDue(candidates);\n' +
      '    for (const { key } of round) this.#postpone(key, now, (turn) => turn);',
    instead: 'const round = candidates.slice(0, 1);',
  },
  {
    name: 'A watcher does not look again for what it could not read when it loaded its intents',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'const isTidy = performance.now() - this.#tidiedAt < TIDY_EVERY_MS;',
    instead: 'const isTidy = this.#tidiedAt > 0;',
  },
  {
    name: 'An owner goes on behind a log that lost its end',
    file: 'packages/event-log/src/ownership/owned-partition.ts',
    guard: 'if (position > end)\n      throw',
    instead: 'if (position < 0n)\n      throw',
  },
  {
    name: 'A settlement counts as final as soon as it is confirmed',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "const isFinal = level === 'finalized';",
    instead: "const isFinal = level !== 'finalized' || level === 'finalized';",
  },
  {
    name: 'A transfer is worth its amount, whatever left the account again',
    file: 'packages/chains/src/base/paid.ts',
    guard: 'yield [index, units];',
    instead: 'yield [index, credits.find((one) => one.index === index)?.amount ?? units];',
  },
  {
    name: 'A submitted transaction that paid another account has no outcome',
    file: 'packages/chains/src/base/observe/receipt.ts',
    guard: ": failed('the transaction was executed, but no successful call in it makes this payment');",
    instead: ': [];',
  },
  {
    name: 'A payment that was once reported without its reference never counts',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'const isWithdrawn = differs.length === 0 && isMismatched(before, landing);',
    instead: 'const isWithdrawn = differs.length > 0 && isMismatched(before, landing);',
  },
  {
    name: 'A payment that counts after all leaves its first report standing',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "isWithdrawn ? draft.append(before.id, 'intent.mismatch_withdrawn', { landing, ...paid }) : before;",
    instead:
      'isWithdrawn ? { ...before, transfers: before.transfers.filter((key) => ' +
      'key !== transferKey(landing)) } : before;',
  },
  {
    name: 'A report for the wrong intent stands',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "if (!differs.includes('reference') || !isReported(intent, landing)) return;",
    instead: "if (differs.includes('reference') || !isReported(intent, landing)) return;",
  },
  {
    name: 'Any wallet pays a send intent',
    file: 'packages/domain/src/model/terms.ts',
    guard: "if (payerProblem(intent, transfer.from) !== null) differs.push('sender');",
    instead: "if (transfer.from === transfer.to) differs.push('sender');",
  },
  {
    name: 'Dust takes the room of real payments',
    file: 'packages/domain/src/decide/observing.ts',
    guard: "isCheap(intent, landing) ? 'dust' : 'mismatched'",
    instead: "'mismatched'",
  },
  {
    name: 'A landing is final by one upstream',
    file: 'packages/chains/src/base/observe/settlements.ts',
    guard: 'const isDoubted = pool.size > 1;',
    instead: 'const isDoubted = pool.size < 1;',
  },
  {
    name: 'One transaction that cannot be read stops a step',
    file: 'packages/chains/src/evm/observe/read-each.ts',
    guard: 'if (!(cause instanceof RpcUpstreamError) || !isOfRequest(cause)) throw cause;',
    instead: 'if (!(cause instanceof RpcUpstreamError) || isOfRequest(cause)) throw cause;',
  },
  {
    name: 'What could not be judged is not looked at again',
    file: 'packages/chains/src/base/observer.ts',
    guard: 'unjudged: [...settled.unjudged, ...holding.waiting],',
    instead: 'unjudged: [],',
  },
  {
    name: 'What no upstream can trace is judged for good',
    file: 'packages/chains/src/base/observe/nested-payments.ts',
    guard: 'unjudged.push(unjudgedOf(context, nested, reason));',
    instead: 'remember(context, opened, traced.references);',
  },
  {
    name: 'What a writer has committed of a deposit and not told, the next one does not tell',
    file: 'services/intent/src/writer.ts',
    guard: 'await this.#tell(received.told);',
    instead: '',
  },
  {
    name: 'An intent is not told that a deposit is assigned to it no more',
    file: 'packages/domain/src/deposit/assigning.ts',
    guard: "before?.state === 'assigned' ? before : null",
    instead: 'null',
  },
  {
    name: 'A deposit that a reorganization has undone goes on counting',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: "isAt(before.arrival, observation.data.place) ? append('deposit.lost', {}) : null",
    instead: "isAt(before.arrival, observation.data.place) && before.version < 0 ? append('deposit.lost', {}) : null",
  },
  {
    name: 'A deposit that was lost is not received again',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: "if (before === undefined || before.level === 'lost') return append('deposit.received', data);",
    instead:
      "if (before === undefined) return append('deposit.received', data);\nif (before.level === 'lost') return null;",
  },
  {
    name: 'An intent of at least its amount is paid by exactly that',
    file: 'packages/domain/src/model/terms.ts',
    guard: 'amount >= amountBaseUnits && amount < AMOUNT_LIMIT',
    instead: 'amount === amountBaseUnits && amount < AMOUNT_LIMIT',
  },
  {
    name: 'A small overpayment is not told',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'if (more > 0n)',
    instead: 'if (more > 1n)',
  },
  {
    name: 'What pays an intent is a deposit as well',
    file: 'packages/chains/src/base/observe/scan.ts',
    guard: 'if (!isOfIntent && isArrival(transfer) && isJudged(transfer))',
    instead: 'if (isArrival(transfer) && isJudged(transfer))',
  },
  {
    name: 'Only one deposit of a batch is told to its intent',
    file: 'services/intent/src/writer.ts',
    guard: 'for (const { intentId, data, trace } of told)',
    instead: 'for (const { intentId, data, trace } of told.slice(0, 1))',
  },
  {
    name: 'Calldata names an intent before the call of the token does',
    file: 'packages/chains/src/base/observe/nested-payments.ts',
    guard: 'if (areExplained(suspects, traced.references)) return remember(context, opened, traced.references);',
    instead:
      'if (areExplained(suspects, traced.references))\n' +
      '      return remember(context, opened, new Map([...traced.references, ...[...opened.likely].map(' +
      '([at, all]) => [at, all.at(-1) ?? null] as const)]));',
  },
];
