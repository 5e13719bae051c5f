import type { Mutant } from '../mutant.ts';

/** What is seen on chain: by one watcher, and all of it. */
export const watcherGuards: readonly Mutant[] = [
  {
    name: 'An intent leaves memory only in the version that the projection has',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'intent?.version !== version || intent.closedAt === null',
    instead: 'intent === undefined || version < 1 || intent.closedAt === null',
    test: {
      file: 'services/watcher/test/watched-intents.unit.test.ts',
      name: 'lets none rest before a while after its end, nor one that the projection has in another version',
    },
  },
  {
    name: 'No payment is passed while the projection lacks an intent that it had',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'if (row === undefined || row.version < (wanted.get(id) ?? 0))',
    instead: 'if (row === undefined) continue;\n        if (row.version < 0)',
    test: {
      file: 'services/watcher/test/watched-intents.unit.test.ts',
      name: 'says that the projection was set back where it lacks one, or has it as it was before',
    },
  },
  {
    name: 'What payments name again and again is looked up once',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'for (const name of new Set(names))',
    instead: 'for (const name of names)',
    test: {
      file: 'services/watcher/test/watched-intents.unit.test.ts',
      name: 'looks up once what a look names again and again',
    },
  },
  {
    name: 'What payments name is recalled before they are matched',
    file: 'packages/chains/src/solana/observe/lookups.ts',
    guard: 'watch.recall(readings.flatMap(',
    instead: 'watch.recall(readings.slice(0, 0).flatMap(',
    test: {
      file: 'packages/chains/test/solana/observe/bookmarks.integration.test.ts',
      name: 'finds a payment to an account that did not exist',
    },
  },
  {
    name: 'What a watcher saw is acknowledged by the log before its cursor moves',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'if (!(await this.#publish([...step.observations, ...deposits], began, ended))) return null;',
    instead: 'this.#publish([...step.observations, ...deposits], began, ended).catch(() => false);',
    test: {
      file: 'services/watcher/test/watching.integration.test.ts',
      name: 'loses no observation when the log becomes unavailable before the publish and the watcher then ends',
    },
  },
  {
    name: 'A watcher that may not know all intents reports no deposits',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'view.isWhole ? (step.deposits ?? []) : []',
    instead: 'step.deposits ?? []',
    test: {
      file: 'services/watcher/test/network-watch.unit.test.ts',
      name: 'publishes what arrived for no intent, but not while a transaction of the log hangs',
    },
  },
  {
    name: 'A deposit that pays an intent is not received again',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: "if (before.level === 'withdrawn') return null;",
    instead: '',
    test: {
      file: 'packages/domain/test/deposit/deposit.unit.test.ts',
      name: 'stays withdrawn, so that it is not counted beside the payment',
    },
  },
  {
    name: 'One deposit pays one intent',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: "state === 'assigned' && intentId !== command.intentId",
    instead: 'false',
    test: {
      file: 'packages/domain/test/deposit/deposit.unit.test.ts',
      name: 'is to one intent only, whatever is asked later',
    },
  },
  {
    name: 'A deposit that lands again goes on paying its intent',
    file: 'packages/domain/src/deposit/evolve.ts',
    guard: "before?.state === 'assigned' ? { ...seen, intentId: before.intentId } : seen",
    instead: 'seen',
    test: {
      file: 'packages/domain/test/deposit/deposit.unit.test.ts',
      name: 'outlives a reorg, and can be undone while the transfer is lost',
    },
  },
  {
    name: 'An intent takes each version of a deposit once',
    file: 'packages/domain/src/decide/observing.ts',
    guard: 'if (known !== undefined && known.version >= version) return;',
    instead: '',
    test: {
      file: 'packages/domain/test/deposit/assigning.unit.test.ts',
      name: 'passes over what is told late',
    },
  },
  {
    name: 'Nothing is done about a deposit that does not count',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: 'counts(before) ? state : level',
    instead: 'state',
    test: {
      file: 'packages/domain/test/deposit/deposit.unit.test.ts',
      name: 'is refused of one that was lost or pays an intent, and says so',
    },
  },
  {
    name: 'A deposit that its account ignores is followed until it is final',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'if (event !== null && ACTS.has(event.type)) return;',
    instead: '',
    test: {
      file: 'services/watcher/test/deposits.unit.test.ts',
      name: 'goes on following one that its account ignores or reopens',
    },
  },
  {
    name: 'The second reading ends before the first deposit for which there is no room',
    file: 'packages/chains/src/base/observe/scan.ts',
    guard: 'arrived.find((one) => context.takeSighting?.(one) === false)',
    instead: 'arrived.find((one) => context.takeSighting?.(one) === null)',
    test: {
      file: 'packages/chains/test/base/observe/sightings.unit.test.ts',
      name: 'ends before the first transfer for which there is no room, also within a block, and goes on there',
    },
  },
  {
    name: 'A deposit for which there is no room is not taken for seen',
    file: 'packages/chains/src/base/observe/sightings.ts',
    guard: 'if (this.#waiting.size >= WAITING_MAX) return false;',
    instead: 'if (this.#waiting.size >= WAITING_MAX) return true;',
    test: {
      file: 'packages/chains/test/base/observe/sightings.unit.test.ts',
      name: 'take no more than there is room for, and then what waits already',
    },
  },
  {
    name: 'A transfer is received once, however often it is read',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: "if (before.level === 'finalized') return null;",
    instead: '',
    test: {
      file: 'packages/domain/test/deposit/deposit.unit.test.ts',
      name: 'is received once, however often it is seen in its block',
    },
  },
  {
    name: 'The late loss of a former block does not undo a deposit',
    file: 'packages/domain/src/deposit/decide.ts',
    guard: 'counts(before) && isAt(before.arrival, observation.data.place)',
    instead: 'counts(before)',
    test: {
      file: 'packages/domain/test/deposit/deposit.unit.test.ts',
      name: 'is lost once, and never by the loss of another block',
    },
  },
  {
    name: 'An observation that the log refuses stops no other',
    file: 'services/watcher/src/observations.ts',
    guard: 'error instanceof RangeError',
    instead: 'error instanceof RangeError && false',
    test: {
      file: 'services/watcher/test/observations.unit.test.ts',
      name: 'passes over an observation that the log can never have, with an error, and publishes the others',
    },
  },
  {
    name: 'The bytes of a payment are stored before it is reported',
    file: 'services/watcher/src/network-watch.ts',
    guard: "one.type === 'landed' && one.data.level === 'confirmed'",
    instead: "one.type === 'landed' && one.data.level !== 'confirmed'",
    test: {
      file: 'services/watcher/test/network-watch.unit.test.ts',
      name: 'stores the bytes of a payment before it is reported',
    },
  },
  {
    name: 'A payment on Solana counts with what the requestor was credited',
    file: 'packages/chains/src/solana/observe/paid.ts',
    guard: 'paid.set(one.transfer, most < atMost ? most : atMost);',
    instead: 'paid.set(one.transfer, most < 0n ? atMost : one.amount);',
    test: {
      file: 'packages/chains/test/solana/observe/landings.unit.test.ts',
      name: 'count what the requestor was credited, and not what the token withheld',
    },
  },
  {
    name: 'What was read while a transaction of the log hung is read again',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'isBlind = !step.isWhole && !isFirst;',
    instead: 'isBlind = !step.isWhole && !isFirst && false;',
    test: {
      file: 'services/watcher/test/network-watch.unit.test.ts',
      name: 'reads again what it had read while a transaction of the log hung',
    },
  },
  {
    name: 'A cursor moves only under the newest lease',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND epoch = $2',
    instead: 'SET cursor = $3, updated_at = clock_timestamp() WHERE chain = $1 AND $2::bigint > 0',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'keeps the cursor for the next holder, and refuses renewals, cursors and releases of the former one',
    },
  },
  {
    name: 'One watcher of a network is active',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: '(watch.holder IS NULL OR watch.holder = excluded.holder OR watch.expires_at < clock_timestamp())',
    instead: 'true',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'goes to one of two concurrent holders, and after its release to another in a later epoch',
    },
  },
  {
    name: 'A watcher goes on in the log where its projection ends',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'return (this.#positions = new Map(positions));',
    instead: 'return (this.#positions = new Map(positions.size > 99 ? positions : []));',
    test: {
      file: 'services/watcher/test/watch-sets.integration.test.ts',
      name: 'start from the projection and continue with the log after it',
    },
  },
  {
    name: 'No block is read before the intents that were there are known',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'await this.#upToDate();',
    instead: 'if (!this.#positions) await this.#upToDate();',
    test: {
      file: 'services/watcher/test/watch-sets.integration.test.ts',
      name: 'know every intent in the log when they synchronize, each in the set of its network',
    },
  },
  {
    name: 'A repeated version stops the watcher',
    file: 'packages/domain/src/evolve.ts',
    guard: 'if (state?.id !== event.intentId || event.version !== state.version + 1) {',
    instead: 'if (state?.id !== event.intentId || event.version > state.version + 1) {',
    test: {
      file: 'services/watcher/test/watch-sets.unit.test.ts',
      name: 'find a repeated version, and begin with the projection again',
    },
  },
  {
    name: 'A log that ends before what was read of it stops the watcher',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'if (from > end) this.#behind(partition, from, end);',
    instead: 'if (from > end) return;',
    test: {
      file: 'services/watcher/test/watch-sets.unit.test.ts',
      name: 'wait for a log that ends before what was read of it, and find it broken when that lasts',
    },
  },
  {
    name: 'Every live submission gets its turn to be broadcast again',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'candidates.sort((a, b) => a.at - b.at).slice(0, ROUND)',
    instead: 'candidates.slice(0, ROUND)',
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'reaches each of 1,000 live submissions, and none a third time before all a second time',
    },
  },
  {
    name: 'Nothing is broadcast again before the transactions of its time have ended',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'if (turn.at <= asOf(intentId))',
    instead: 'if (turn.at <= now)',
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'waits with an intent until all that was decided before its turn is known',
    },
  },
  {
    name: 'What a node shows in a block is hardly ever broadcast again',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'everyMs * 2 ** timesLanded',
    instead: 'everyMs * 1 ** timesLanded',
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'broadcasts one that a node shows in a block a few times more, and then hardly ever',
    },
  },
  {
    name: 'One transaction that cannot be broadcast again stops no other',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: "if (result.status === 'rejected')",
    instead: "if (result.status === 'rejected') throw result.reason; else if (false)",
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'broadcasts all others in the round of one that fails',
    },
  },
  {
    name: 'Nothing of a held intent is broadcast again',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'if (held.has(intentId)) return;',
    instead: '',
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'broadcasts nothing of a held intent, and keeps all its bytes',
    },
  },
  {
    name: 'The bytes of a held intent are kept',
    file: 'services/watcher/src/rebroadcaster.ts',
    guard: 'unknown: [...set.held()]',
    instead: 'unknown: []',
    test: {
      file: 'services/watcher/test/rebroadcaster.unit.test.ts',
      name: 'broadcasts nothing of a held intent, and keeps all its bytes',
    },
  },
  {
    name: 'A held intent is replaced only by a row of its version',
    file: 'services/watcher/src/watched-intents.ts',
    guard: ' && this.#get(row.id)?.version === row.version',
    instead: '',
    test: {
      file: 'services/watcher/test/watch-sets.unit.test.ts',
      name: 'watch a held intent, and have all of it within a minute of its row being rebuilt',
    },
  },
  {
    name: 'An intent is found by its names after others were forgotten',
    file: 'services/watcher/src/hashed-places.ts',
    guard: 'empty = next;',
    instead: 'break;',
    test: {
      file: 'services/watcher/test/named.unit.test.ts',
      name: 'finds values by each of their names as a map would, whatever was added and removed before',
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
    name: 'Logs are read a second time from another upstream, or later',
    file: 'packages/rpc/src/pool.ts',
    guard: 'return isAwaited ? null : [await work(node)];',
    instead: 'return isAwaited && node.name === "" ? null : [await work(node)];',
    test: {
      file: 'packages/simulation/test/chain/chain.unit.test.ts',
      name: 'finds a payment that one upstream leaves out while the other is down',
    },
  },
  {
    name: 'What must be shown by two is never shown by one, however long the other is down',
    file: 'packages/rpc/src/pool.ts',
    guard: 'if (!alone && this.size > 1) return null;',
    instead: '',
    test: {
      file: 'packages/rpc/test/pool.unit.test.ts',
      name: 'concludes nothing by one where both must show it, while the other has failed for eleven minutes',
    },
  },
  {
    name: 'Logs are read a second time from another upstream than the first time',
    file: 'packages/rpc/src/pool.ts',
    guard: 'if (first !== null && first !== node.name) return',
    instead: "if (first === '') return",
    test: {
      file: 'packages/rpc/test/pool.unit.test.ts',
      name: 'reads again from an upstream that has not read the first time',
    },
  },
  {
    name: 'The watch set is brought up to date after the head is learned',
    file: 'packages/chains/src/evm/observe/step.ts',
    guard:
      'const [head, standing] = await node.batch([newest, getBlock(last.number)]);\n' +
      "  if (head === null) throw new RpcUpstreamError(`${node.name} has no ${newestName}`, 'no');\n" +
      '  const watch = await synchronize();',
    instead:
      'const watch = await synchronize();\n' +
      '  const [head, standing] = await node.batch([newest, getBlock(last.number)]);\n' +
      "  if (head === null) throw new RpcUpstreamError(`${node.name} has no ${newestName}`, 'no');",
    test: {
      file: 'packages/chains/test/base/watch-set.integration.test.ts',
      name: 'passes a block only with a watch set that was updated after the block existed',
    },
  },
  {
    name: 'A watcher passes over an event that only newer code understands',
    file: 'services/watcher/src/watch-sets.ts',
    guard: 'isForeign(event) ? headOf(event) : eventOf(event)',
    instead: 'eventOf(event as never)',
    test: {
      file: 'services/watcher/test/watch-sets.unit.test.ts',
      name: 'pass over an event that only newer code understands, and follow its intent on',
    },
  },
  {
    name: 'A loss counts only for the landing that it names',
    file: 'packages/domain/src/decide/observing.ts',
    guard: ' && (place === undefined || isAt(settlement, place))',
    instead: '',
    test: {
      file: 'packages/domain/test/decide/settlement.unit.test.ts',
      name: 'is passed over where it undid another landing of the transaction than the one that stands',
    },
  },
  {
    name: 'A landing that the ledger has as lost is reported again',
    file: 'packages/chains/src/base/observe/settlements.ts',
    guard: 'isLostInLedger(watch, one) ||',
    instead: '',
    test: {
      file: 'packages/simulation/test/chain/chain.unit.test.ts',
      name: 'soon reports a landing again that the ledger passed over and then counted as lost',
    },
  },
  {
    name: 'A landing is reported again while the ledger waits for its transaction',
    file: 'packages/chains/src/base/observe/settlements.ts',
    guard: '(now - one.seenAt >= UNHEARD_MS && isLiveInLedger(watch, one))',
    instead: 'false',
    test: {
      file: 'packages/chains/test/base/observer.integration.test.ts',
      name: 'reports a landing again while the ledger still waits for its transaction: the report was lost',
    },
  },
  {
    name: 'A rescan reports again what was reported',
    file: 'packages/chains/src/base/observe/position.ts',
    guard: '{ ...one, reported: false }',
    instead: 'one',
    test: {
      file: 'packages/chains/test/base/observer.integration.test.ts',
      name: 'reports again, when its cursor is rewound, a landing of which nothing but the chain tells',
    },
  },
  {
    name: 'A watcher loads its intents again after a rebuild',
    file: 'services/watcher/src/watch-sets.ts',
    guard: '(await this.#intents.rebuilds()) !== this.#rebuilds',
    instead: '(await this.#intents.rebuilds()) < 0',
    test: {
      file: 'services/watcher/test/watch-sets.unit.test.ts',
      name: 'have an intent within a minute of a rebuild whose row was missing when they were loaded',
    },
  },
  {
    name: 'A used nonce refuses no transaction that a lagging node does not show',
    file: 'packages/chains/src/evm/broadcast.ts',
    guard: "return { kind: isLate && isShown === false ? 'refused' : 'unknown', reason };",
    instead: "return { kind: isShown === false ? 'refused' : 'unknown', reason };",
    test: {
      file: 'packages/chains/test/base/broadcast.unit.test.ts',
      name: 'is unknown while a used nonce may be its own, which a lagging node does not show',
    },
  },
  {
    name: 'Transfers to every recipient are asked for, in as many lists as it takes',
    file: 'packages/chains/src/evm/observe/log-window.ts',
    guard: 'partsOf(wanted.recipients, most.recipients);',
    instead: 'partsOf(wanted.recipients, most.recipients).slice(0, 1);',
    test: {
      file: 'packages/chains/test/evm/observe/log-window.unit.test.ts',
      name: 'asks for the logs of each in exactly one list of a thousand',
    },
  },
  {
    name: 'Base, Tempo: what recipients an account names does not decide how many lists a reading takes',
    file: 'packages/chains/src/evm/observe/log-window.ts',
    guard: 'isOfAll ? [null] : ',
    instead: '',
    test: {
      file: 'packages/chains/test/hostile/many-recipients.unit.test.ts',
      name: 'is seen by a step that asks for few lists of recipients',
    },
  },
  {
    name: 'Base, Tempo: of the transfers to anyone those to watched recipients count alone',
    file: 'packages/chains/src/evm/observe/log-window.ts',
    guard: 'isOfAll ? await ofRecipients(logs, wanted.recipients) : logs',
    instead: 'logs',
    test: {
      file: 'packages/chains/test/evm/observe/log-window.unit.test.ts',
      name: 'asks for those of all at once beyond 16 lists, and returns those of its recipients alone',
    },
  },
  {
    name: 'An early look never moves the block up to which the logs of all recipients were read',
    file: 'packages/chains/src/evm/observe/reading.ts',
    guard: 'return { ...idle, reached: end, ...findings };',
    instead: 'return { ...idle, reached: end, whole: end.number, ...findings };',
    test: {
      file: 'packages/chains/test/evm/observe/early-look.integration.test.ts',
      name: 'reads after a restart what an early look has passed',
    },
  },
  {
    name: 'A stream that lies or floods makes no more than ten steps a minute come sooner',
    file: 'packages/rpc/src/hints.ts',
    guard: 'if (this.#counted.take(1, this.#now()).tokens === 0) return;',
    instead: '',
    test: {
      file: 'packages/rpc/test/hints.unit.test.ts',
      name: 'wake ten times a minute at most, and a socket that floods is closed for a minute',
    },
  },
  {
    name: 'The second reading of Base goes on where one call does not take all',
    file: 'packages/chains/src/base/observer.ts',
    guard: 'again.end < all && (again.end > rescanned || again.within !== within)',
    instead: 'again.end < all && false',
    test: {
      file: 'packages/chains/test/evm/second-reading.integration.test.ts',
      name: 'goes on in the next step where one call did not take all blocks',
    },
  },
  {
    name: 'A recipient without a bookmark keeps the place where those begin',
    file: 'packages/chains/src/solana/observer.ts',
    guard: 'derived.isBehind ? marked : head',
    instead: 'head',
    test: {
      file: 'packages/chains/test/solana/observe/bookmarks.integration.test.ts',
      name: 'finds the payments to recipients whose accounts were not derived yet when it was interrupted',
    },
  },
  {
    name: 'A bookmark has no balance whose payments were not read',
    file: 'packages/chains/src/solana/observe/bookmarks.ts',
    guard: '...(changedAt === null && paging === null && { balance })',
    instead: 'balance',
    test: {
      file: 'packages/chains/test/solana/observe/bookmarks.integration.test.ts',
      name: 'does not believe a bookmark of a time when the list did not show what moved the balance',
    },
  },
  {
    name: 'A bookmark passes over no transaction that no node has returned yet',
    file: 'packages/chains/src/solana/observe/bookmarks.ts',
    guard: 'const open = unread.get(recipient);',
    instead: 'const open = unread.size < 0 ? 0n : undefined;',
    test: {
      file: 'packages/chains/test/solana/observe/bookmarks.integration.test.ts',
      name: 'does not believe a bookmark of a time when a listed transaction was not returned yet',
    },
  },
  {
    name: 'Old transactions do not explain a new balance',
    file: 'packages/chains/src/solana/observe/accounts.ts',
    guard: 'if (account.hasMoved ? isNew',
    instead: 'if (!account.hasMoved ? isNew',
    test: {
      file: 'packages/chains/test/solana/observe/bookmarks.integration.test.ts',
      name: 'does not believe a bookmark of a time when the list did not show what moved the balance',
    },
  },
  {
    name: 'No bookmark counts after a cursor was rewound',
    file: 'packages/chains/src/solana/observe/position.ts',
    guard: '    known: null,\n' + '  });',
    instead: '  });',
    test: {
      file: 'packages/chains/test/solana/observe/bookmarks.integration.test.ts',
      name: 'lists all accounts again after its cursor was rewound',
    },
  },
  {
    name: 'A former holder of the lease stores no bookmarks',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'FROM moved, unnest(',
    instead: 'FROM (SELECT $1::text AS chain) AS moved, unnest(',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'has bookmarks, which are stored with its cursor, and none of a former holder',
    },
  },
  {
    name: 'A node that lags does not tell what a reorg has orphaned',
    file: 'packages/chains/src/base/observe/settlements.ts',
    guard: 'if (block <= head && !hashes.has(block))',
    instead: 'if (block <= head && !hashes.has(block) && head < 0n)',
    test: {
      file: 'packages/chains/test/base/observe/orphan.unit.test.ts',
      name: 'is not concluded from a lagging node',
    },
  },
  {
    name: 'The lease of a shard is granted for the stored number of shards only',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'WHERE watch.shards = $4 AND',
    instead: 'WHERE $4::int > 0 AND',
    test: {
      file: 'packages/database/test/watching/shards.integration.test.ts',
      name: 'have a lease each, and end that of the whole network when it is split',
    },
  },
  {
    name: 'A split ends the leases of before',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'SET shards = excluded.shards, epoch = watch.epoch + 1,',
    instead: 'SET shards = excluded.shards, epoch = watch.epoch,',
    test: {
      file: 'packages/database/test/watching/shards.integration.test.ts',
      name: 'have a lease each, and end that of the whole network when it is split',
    },
  },
  {
    name: 'No epoch of a shard comes twice',
    file: 'packages/database/src/watching/network-watches.ts',
    guard: 'Math.max(rows.length, changed.length)',
    instead: 'changed.length',
    test: {
      file: 'packages/database/test/watching/shards.integration.test.ts',
      name: 'are never held again under an epoch of before, when the network was not split meanwhile',
    },
  },
  {
    name: 'A watcher of a shard has the intents of its recipients only',
    file: 'services/watcher/src/watched-intents.ts',
    guard: 'if (!isOfShard(intent.requestor, this.#shard)) return;',
    instead: '',
    test: {
      file: 'services/watcher/test/watched-intents.unit.test.ts',
      name: 'ignores the intents of other shards',
    },
  },
  {
    name: 'A watcher of a shard deletes no bytes of another',
    file: 'packages/database/src/watching/signed-transactions.ts',
    guard: 'AND ($6::int = 1 OR EXISTS',
    instead: 'AND ($6::int > 0 OR EXISTS',
    test: {
      file: 'packages/database/test/watching/shards.integration.test.ts',
      name: 'load only the intents of their recipients, and forget only their bytes',
    },
  },
  {
    name: 'A merged cursor has read only what each of the shards has',
    file: 'packages/chains/src/evm/observe/chain-position.ts',
    guard: 'newestOf(one).number < newestOf(lowest).number',
    instead: 'newestOf(one).number > newestOf(lowest).number',
    test: {
      file: 'packages/chains/test/merge.unit.test.ts',
      name: 'covers only blocks that every shard has read, on Base',
    },
  },
  {
    name: 'A merged cursor of Solana believes no bookmarks where one shard had none',
    file: 'packages/chains/src/solana/observe/position.ts',
    guard: 'known.length < positions.length',
    instead: 'known.length === 0',
    test: {
      file: 'packages/chains/test/merge.unit.test.ts',
      name: 'covers only slots that every shard has read, on Solana, and trusts bookmarks that all of them trust',
    },
  },
  {
    name: 'No bookmark is kept of what is read again',
    file: 'services/watcher/src/network-watch.ts',
    guard: 'cursor = stored.cursor;\n          changed.clear();',
    instead: 'cursor = stored.cursor;',
    test: {
      file: 'services/watcher/test/network-watch.unit.test.ts',
      name: 'stores no bookmark of what it reads again after a transaction of the log hung',
    },
  },
  {
    name: 'Blocks that a lagging node does not have are no reorganization',
    file: 'packages/chains/src/evm/observe/chain-position.ts',
    guard: '!hashes.has(expected.number) && head.number - expected.number <= near',
    instead: 'hashes.size === 0',
    test: {
      file: 'packages/chains/test/evm/observe/chain-position.unit.test.ts',
      name: 'concludes nothing from a node that lacks blocks below the head which another one reported',
    },
  },
  {
    name: 'Solana: a node that no longer has the word `confirmed` stops no payment',
    file: 'packages/rpc/src/node.ts',
    guard: "if (response.error?.code === INVALID_PARAMS && call.otherwise !== undefined) return 'refused words';",
    instead: '',
    test: {
      file: 'packages/rpc/test/batches.unit.test.ts',
      name: 'ask in other words what the upstream refuses as invalid, and at once in those from then on',
    },
  },
  {
    name: 'Base: bytes whose maximum fee is about to be outgrown are not handed out again',
    file: 'packages/chains/src/base/adapter.ts',
    guard: 'outlivesSigning(maxFee, baseFee) &&',
    instead: '',
    test: {
      file: 'packages/chains/test/base/payment.integration.test.ts',
      name: 'reuses a build until its nonce is used, or while the base fee exceeds half of its maximum',
    },
  },
  {
    name: 'Tempo: a maximum fee outlives the rise of the base fee from its floor to its cap',
    file: 'packages/chains/src/tempo/fees.ts',
    guard: 'return (doubled > BASE_FEE_CAP ? doubled : BASE_FEE_CAP) + tip;',
    instead: 'return doubled + tip;',
    test: {
      file: 'packages/chains/test/tempo/fees.unit.test.ts',
      name: 'outlive 26 full blocks, in which the base fee goes from its floor to its cap',
    },
  },
  {
    name: 'A node that is behind the block of a build refuses no payment',
    file: 'packages/chains/src/newest-head.ts',
    guard: 'if (isKnown && head < this.#head)',
    instead: 'if (isKnown && head < 0n)',
    test: {
      file: 'packages/chains/test/base/landable.unit.test.ts',
      name: 'refuses nothing at a node that is behind the block which a build was based on',
    },
  },
  {
    name: 'Tempo: an upstream that is always a block behind prevents no proof that a transaction was dropped',
    file: 'packages/chains/src/tempo/observe/proof-blocks.ts',
    guard: 'if (chosen !== undefined && now - chosen.at < CHOSEN_FOR_MS) return chosen.block;',
    instead: '',
    test: {
      file: 'packages/chains/test/tempo/observe/pending-outcomes.unit.test.ts',
      name: 'is dropped although an upstream is always a block behind',
    },
  },
  {
    name: 'Base: a step on a slow plan finalizes no more than its rate allows, so that it comes to its end',
    file: 'packages/chains/src/base/observe/settlements.ts',
    guard: 'Math.min(FINALIZED_MAX, mostBlocks(node), isDoubted',
    instead: 'Math.min(FINALIZED_MAX, isDoubted',
    test: {
      file: 'packages/chains/test/base/slow-plan.unit.test.ts',
      name: 'finalizes as many settlements as its rate allows, and goes on',
    },
  },
  {
    name: 'A payment is refused only where it can land on no upstream that responds',
    file: 'packages/chains/src/landability.ts',
    guard: "if (attempt.kind === 'completed' && attempt.value.reason === null) return attempt.value;",
    instead: "if (attempt.kind === 'completed') return attempt.value;",
    test: {
      file: 'packages/chains/test/landability.unit.test.ts',
      name: 'is decided by the first upstream on which it can',
    },
  },
  {
    name: 'The first position is block 0 only on a chain that has just begun',
    file: 'packages/chains/src/evm/observe/chain-position.ts',
    guard: 'if (finalized === null && (head === null || head.number >= blocksIn(YOUNG_MS, chain)))',
    instead: 'if (finalized === null && head === null)',
    test: {
      file: 'packages/chains/test/evm/observe/chain-position.unit.test.ts',
      name: 'is block 0 only where the chain has just begun: the present would be years away',
    },
  },
  {
    name: 'Solana: a listed transaction that no node returns is asked for again for a day',
    file: 'packages/chains/src/solana/observe/lookups.ts',
    guard: 'now - since >= GIVEN_UP_MS;',
    instead: 'now - since >= SHOWN_WITHIN_MS;',
    test: {
      file: 'packages/chains/test/solana/observe/lookups.unit.test.ts',
      name: 'holds the cursor below it, and is warned of after five minutes',
    },
  },
  {
    name: 'Solana: the last look at a reference counts only at a node that has the newest slot',
    file: 'packages/chains/src/solana/observe/references.ts',
    guard: 'return await node.batch(last.map((one) => listed(one, head)));',
    instead: 'return await node.batch(last.map((one) => listed(one, listedAt(head))));',
    test: {
      file: 'packages/chains/test/solana/observe/references.unit.test.ts',
      name: 'is repeated where the node is behind: it may not have the payment of the last minute',
    },
  },
  {
    name: 'Receipts that a failed step has read are read again at once',
    file: 'packages/chains/src/evm/observe/receipt-schedule.ts',
    guard: '  begin(): void {\n    this.#asked.clear();',
    instead: '  begin(): void {',
    test: {
      file: 'packages/chains/test/evm/observe/receipt-schedule.unit.test.ts',
      name: 'reads it at once after a step that failed midway',
    },
  },
  {
    name: 'A packed intent keeps what has happened to it',
    file: 'services/watcher/src/packed-intent.ts',
    guard: '([field, value]) => !ELSEWHERE.has(field) && !isNothing(field, value)',
    instead: "([field, value]) => !ELSEWHERE.has(field) && !isNothing(field, value) && field !== 'submissions'",
    test: {
      file: 'services/watcher/test/packed-intent.unit.test.ts',
      name: 'folds events like the unpacked intent',
    },
  },
  {
    name: 'What newer code has marked in a row is not read by its columns',
    file: 'packages/database/src/watching/watched-intents.ts',
    guard: ` OR \${holds('"schemaVersion"', '"heldFrom"')}`,
    instead: '',
    test: {
      file: 'packages/database/test/watching/watched-intents.integration.test.ts',
      name: 'returns as held an intent that newer code marked',
    },
  },
  {
    name: 'A watcher is ready once it could take over',
    file: 'services/watcher/src/main.ts',
    guard: 'intents: async () => sets.wasLoaded',
    instead: 'intents: async () => true',
    test: {
      file: 'services/watcher/test/processes.integration.test.ts',
      name: 'are not ready before all intents are in memory',
    },
  },
  {
    name: 'What the ledger tells of late is not unexplained',
    file: 'services/watcher/src/money-check.ts',
    guard: 'const isOver = differences.length === 0 || looks === LOOKS;',
    instead: 'const isOver = true;',
    test: {
      file: 'services/watcher/test/money-check.unit.test.ts',
      name: 'is silent of what the ledger tells of late',
    },
  },
  {
    name: 'A busy wallet does not spend the plan of a provider',
    file: 'services/watcher/src/money-check.ts',
    guard: 'this.#resting.set(wallet, this.#options.now() + REST_MS);',
    instead: '',
    test: {
      file: 'services/watcher/test/money-check.unit.test.ts',
      name: 'lets a wallet rest for a day that moves too much, or that too many accounts name',
    },
  },
];
