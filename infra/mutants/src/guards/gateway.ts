import type { Mutant } from '../mutant.ts';

/** Guards of responses and broadcasts. */
export const gatewayGuards: readonly Mutant[] = [
  {
    name: 'Streams of an intent whose row cannot be decoded do not read it without a pause',
    file: 'services/gateway/src/events/feeds.ts',
    guard: 'seen?.more === true && (intent !== null || !hasRead(seen))',
    instead: 'seen?.more === true',
    test: {
      file: 'services/gateway/test/events/streams.integration.test.ts',
      name: 'decides whether an intent is looked at again at once: one that has a row that cannot be decoded',
    },
  },
  {
    name: 'All keys of an account in a mode have a quota together',
    file: 'services/gateway/src/limits/limiter.ts',
    guard: 'await this.#admitAccount(holder, quota, response);',
    instead: '',
    test: {
      file: 'services/gateway/test/limits/limiter.unit.test.ts',
      name: 'limits all keys of an account in a mode to four times the quota of one, and says so',
    },
  },
  {
    name: 'No transaction is built as sponsored where its payer would pay the fee',
    file: 'services/gateway/src/intents/build.ts',
    guard: "if (sponsored && adapter.sponsors === 'none' && !(await hasPaymaster(dependencies, adapter, owner)))",
    instead: "if (sponsored && adapter.sponsors === 'none' && sponsored === null)",
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'returns 422 for a sponsored transaction on a chain that has none',
    },
  },
  {
    name: 'A build that is asked for again is counted before the chain is asked',
    file: 'services/gateway/src/intents/build.ts',
    guard: 'if (!live) await dependencies.limiter.admitRepeatedBuild(id, owner, request.ip);',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/build.unit.test.ts',
      name: 'is counted before the chain is asked',
    },
  },
  {
    name: 'No client has its requests traced',
    file: 'packages/http/src/request-log.ts',
    guard: 'ofStranger: true,',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'write the request id and the trace into the event log, and no API key into any log line',
    },
  },
  {
    name: 'No transaction is handed out again of which most of the life is over',
    file: 'services/gateway/src/intents/build.ts',
    guard: 'if (live || (await adapter.isReusable(present, intent.expiresAt)))',
    instead: 'if (live || (await adapter.isReusable(present, intent.expiresAt)) || present)',
    test: {
      file: 'services/gateway/test/intents/build.unit.test.ts',
      name: 'builds again where most of the life of the last build is over',
    },
  },
  {
    name: 'A sponsor that hangs holds up its own account alone',
    file: 'services/gateway/src/sponsors/sponsor-calls.ts',
    guard: 'key: `${accountId} ${livemode}`',
    instead: "key: 'all'",
    test: {
      file: 'services/gateway/test/sponsors/sponsor-calls.unit.test.ts',
      name: 'takes no place of another account while its sponsor hangs',
    },
  },
  {
    name: 'What waits for a place of its account takes none of the sponsors of test mode',
    file: 'services/gateway/src/sponsors/sponsor-calls.ts',
    guard: 'this.#places.run(own, () => (livemode ? asked() : this.#inTest(accountId, { until, refuse }, asked)));',
    instead:
      'livemode\n' +
      '      ? this.#places.run(own, asked)\n' +
      '      : this.#inTest(accountId, { until, refuse }, () => this.#places.run(own, asked));',
    test: {
      file: 'services/gateway/test/sponsors/sponsor-calls.unit.test.ts',
      name: 'takes few of the places of test mode for one account, however many of its requests wait',
    },
  },
  {
    name: 'Creates with one idempotency key go to one partition',
    file: 'services/gateway/src/intents/create.ts',
    guard:
      'idempotencyKey === null ? partitioner.next() : partitionOfKey(accountId, livemode, idempotencyKey, partitions)',
    instead: 'partitioner.next()',
    test: {
      file: 'services/gateway/test/intents/races.integration.test.ts',
      name: 'create one intent with one idempotency key, even before the first create is decided',
    },
  },
  {
    name: 'A repeated create says what it asked for otherwise',
    file: 'services/gateway/src/intents/create.ts',
    guard: 'differencesOfIntent(adapters, body, intent)',
    instead: '{}',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'say of a repeat what it asked for otherwise, however the same is spelled',
    },
  },
  {
    name: 'Outcomes are read from the database while Redis is unavailable',
    file: 'services/gateway/src/outcomes.ts',
    guard: 'await this.#intents.findOutcomes([...this.#lookedUp])',
    instead: 'await this.#intents.findOutcomes([])',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'read outcomes from the database while Redis is unavailable',
    },
  },
  {
    name: 'A gateway that stops closes kept connections with a response',
    file: 'packages/http/src/server.ts',
    guard: 'if (this.#closing) response.shouldKeepAlive = false;',
    instead: 'if (this.#open.size < 0) response.shouldKeepAlive = false;',
    test: {
      file: 'packages/http/test/server.unit.test.ts',
      name: 'serves a last request on a kept connection and closes it with the response',
    },
  },
  {
    name: 'A command that times out is a 503 with the intent’s id',
    file: 'services/gateway/src/commands.ts',
    guard: 'if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError)',
    instead: 'if (error instanceof LogUnavailableError)',
    test: {
      file: 'services/gateway/test/intents/intents.integration.test.ts',
      name: 'returns 503 with the id of the intent that may still be created',
    },
  },
  {
    name: 'The bytes of a transaction are stored before the intent is claimed for it',
    file: 'services/gateway/src/intents/submit.ts',
    guard:
      'await signedTransactions.keep({ intentId: intent.id, chain: intent.chain, hash: signed.hash, ' +
      'bytes: signed.raw });',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'claims once for concurrent submissions of the same transaction',
    },
  },
  {
    name: 'The claim stays after a broadcast with an unknown outcome',
    file: 'services/gateway/src/intents/claim.ts',
    guard: "    case 'unknown':\n      throw stillClaimed(id, hash);",
    instead:
      "    case 'unknown':\n      await release(dependencies, claim, broadcast.reason);\n" +
      '      throw stillClaimed(id, hash);',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'keeps the claim if a broadcast may have been accepted',
    },
  },
  {
    name: 'A claim comes before the broadcast',
    file: 'services/gateway/src/intents/claim.ts',
    guard: 'const prepareResult = await commands.require(',
    instead: 'if (!isOut) await adapter.broadcast(signed);\n  const prepareResult = await commands.require(',
    test: {
      file: 'services/gateway/test/intents/races.integration.test.ts',
      name: 'let only one of two payers pay when both submit at once',
    },
  },
  {
    name: 'A command that cannot be published is a 503 with the intent’s id',
    file: 'services/gateway/src/commands.ts',
    guard: 'if (error instanceof LogUnavailableError || error instanceof OutcomeUnknownError)',
    instead: 'if (error instanceof OutcomeUnknownError)',
    test: {
      file: 'services/gateway/test/log-unavailable.integration.test.ts',
      name: 'returns 503 with the id of the intent that may have been created, and creates none',
    },
  },
  {
    name: 'A build of a refund is not returned while its original payment is undone',
    file: 'services/gateway/src/intents/lookup.ts',
    guard: 'if (intent.refundOf !== null)',
    instead: 'if (intent.refundOf === intent.id)',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'is neither built nor submitted while its original payment is undone',
    },
  },
  {
    name: 'One account cannot fill a partition',
    file: 'packages/runtime/src/places.ts',
    guard: 'if (this.#taken < this.#most && this.#line.length === 0) {',
    instead: 'if (this.#taken < this.#most || this.#line.length === 0) {',
    test: {
      file: 'services/gateway/test/limits/command-turns.unit.test.ts',
      name: 'let another account’s command be decided in the next batch',
    },
  },
  {
    name: 'An address that sends invalid keys is limited before they are looked up',
    file: 'services/gateway/src/api-keys.ts',
    guard: 'if (!isProven) this.#strangers?.admit(ip);',
    instead: '',
    test: {
      file: 'services/gateway/test/api-keys.integration.test.ts',
      name: 'are not looked up for an address that has sent too many others',
    },
  },
  {
    name: 'Guessed keys take two connections at most',
    file: 'services/gateway/src/api-keys.ts',
    guard: 'this.#proven.has(hash) ? find() : this.#inTurn(find)',
    instead: 'find()',
    test: {
      file: 'services/gateway/test/api-keys.integration.test.ts',
      name: 'are looked up two at a time, until they were valid once',
    },
  },
  {
    name: 'Open event streams are counted',
    file: 'services/gateway/src/events/events.ts',
    guard: "response.once('close', streams.open(holder, request.ip));",
    instead: '',
    test: {
      file: 'services/gateway/test/limits/admission.integration.test.ts',
      name: 'caps the event streams of an address, and of an account whatever its keys',
    },
  },
  {
    name: 'Payers who ask little are served after their key is used up',
    file: 'services/gateway/src/limits/limiter.ts',
    guard: 'own.allowed && !this.#isWithinShare(share, PAYER_ADDRESS_SHARE)',
    instead: 'own.allowed',
    test: {
      file: 'services/gateway/test/limits/rate-limits.integration.test.ts',
      name: 'let payers pay at addresses that ask little, after others have used the quota of their key up',
    },
  },
  {
    name: 'Connections of clients are bounded',
    file: 'packages/http/src/server.ts',
    guard: 'if (maxConnections !== undefined) this.#server.maxConnections = maxConnections;',
    instead: '',
    test: {
      file: 'packages/http/test/server.unit.test.ts',
      name: 'closes connections beyond its most at once, and takes new ones when others are closed',
    },
  },
  {
    name: 'Test mode has connections to Postgres of its own',
    file: 'services/gateway/src/app.ts',
    guard: 'endpoint({ ...shared, ...stores.test })',
    instead: 'endpoint({ ...shared, ...stores.live })',
    test: {
      file: 'services/gateway/test/limits/admission.integration.test.ts',
      name: 'serves live requests while those of test mode wait for the database',
    },
  },
  {
    name: 'Requests in test mode never take all connections to Postgres',
    file: 'packages/database/src/postgres/share.ts',
    guard: 'sql: limited(database.sql, { most: sql, perOwner, waitMs }),',
    instead: 'sql: database.sql,',
    test: {
      file: 'packages/database/test/postgres/share.integration.test.ts',
      name: 'leaves the others to those who use the database itself',
    },
  },
  {
    name: 'A client secret opens its own intent only',
    file: 'services/gateway/src/endpoint.ts',
    guard: "if (holder.intentId !== undefined && request.params['id'] !== holder.intentId)",
    instead: "if (holder.intentId !== undefined && request.params['id'] === undefined)",
    test: {
      file: 'services/gateway/test/access.integration.test.ts',
      name: 'get /intents/{id} lets the client secret of another intent do what it may',
    },
  },
  {
    name: 'The secret of a payment link opens its own link only',
    file: 'services/gateway/src/endpoint.ts',
    guard: "if (holder.linkId !== undefined && request.params['id'] !== holder.linkId)",
    instead: "if (holder.linkId !== undefined && request.params['id'] === undefined)",
    test: {
      file: 'services/gateway/test/access.integration.test.ts',
      name: 'get /payment-links/{id} lets the secret of another payment link do what it may',
    },
  },
  {
    name: 'Two intents of a wallet that are paid by their amounts have two',
    file: 'packages/database/src/amounts/reserved-amounts.ts',
    guard: "await client.query(advisoryLock('reserved_amounts', JSON.stringify([chain, tokenAddress, recipient])));",
    instead: '',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'never gives two intents the same where many ask at once',
    },
  },
  {
    name: 'No round amount is reserved',
    file: 'packages/database/src/amounts/reserved-amounts.ts',
    guard: 'UNION ALL SELECT div($7::numeric + $9::numeric, $12::numeric) * $12::numeric',
    instead: 'UNION ALL SELECT 0 * $12::numeric',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'is never a round one, which others pay too',
    },
  },
  {
    name: 'A flood of intents hides none that asks for the amount of another',
    file: 'packages/database/src/amounts/reserved-amounts.ts',
    guard: 'const RECENT_MAX = 100_000;',
    instead: 'const RECENT_MAX = 1_000;',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'sees another unpaid intent that asks for the same behind a thousand newer ones',
    },
  },
  {
    name: 'What came before an amount was reserved pays no intent by it',
    file: 'packages/database/src/amounts/reserved-amounts.ts',
    guard: "AND n.at >= r.reserved_at - ${BLOCKS_BEHIND_MS} * interval '1 ms'",
    instead: '',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'is not matched by a transfer of another account or wallet, of before, or of after its time',
    },
  },
  {
    name: 'An amount whose deposit a reorg has undone is paid by what lands as another deposit',
    file: 'packages/database/src/amounts/reserved-amounts.ts',
    guard: 'await followLosses(client, events, at);',
    instead: '',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'is matched by no deposit that is lost, and by the one that comes after it',
    },
  },
  {
    name: 'What has the amount of an intent that is paid is left to its account',
    file: 'services/gateway/src/deposits/amount-keeper.ts',
    guard: 'if (!intent.settlement.lost) return PAID;',
    instead: '',
    test: {
      file: 'services/gateway/test/deposits/by-amount.integration.test.ts',
      name: 'is paid once: what has its amount after another payment stays a deposit',
    },
  },
  {
    name: 'One transfer pays by its amount in one account: in that which has reserved it first',
    file: 'services/gateway/src/deposits/amount-keeper.ts',
    guard: "if (isSecond) return leave('another account has reserved the amount of the wallet before');",
    instead: '',
    test: {
      file: 'services/gateway/test/deposits/by-amount.integration.test.ts',
      name: 'pays the account that has reserved its amount first',
    },
  },
  {
    name: 'Two accounts with one wallet reserve two amounts',
    file: 'packages/database/src/amounts/reserved-amounts.ts',
    guard: 'SELECT amount FROM mine UNION SELECT amount FROM others',
    instead: 'SELECT amount FROM mine',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'is not one that another account has for the wallet, as long as there are others',
    },
  },
  {
    name: 'What has the amount of two unpaid intents pays neither by itself',
    file: 'services/gateway/src/deposits/amount-keeper.ts',
    guard: 'if (await amounts.hasRival(intent, deposit.createdAt - RIVAL_MS))',
    instead: 'if (RIVAL_MS < 0)',
    test: {
      file: 'services/gateway/test/deposits/by-amount.integration.test.ts',
      name: 'is left to people where another intent of the wallet asks for the same',
    },
  },
  {
    name: 'The sender of what pays an intent by its amount is screened',
    file: 'services/gateway/src/deposits/amount-keeper.ts',
    guard: "await requireCleanWallets(this.#screening, wallets, { holder, what: 'assign', intentId });",
    instead: '',
    test: {
      file: 'services/gateway/test/deposits/by-amount.integration.test.ts',
      name: 'is not paid by a listed sender or by the wallet itself, and is by the next',
    },
  },
  {
    name: 'An offer of a payment link has one intent, however many ask for it',
    file: 'packages/database/src/links/payment-links.ts',
    guard: "await client.query('SELECT FROM service.payment_links WHERE id = $1 FOR UPDATE', [id]);",
    instead: '',
    test: {
      file: 'packages/database/test/links/keeping.integration.test.ts',
      name: 'have one intent for an offer that several gateways assign at once',
    },
  },
  {
    name: 'An offer that was begun is returned while its payment link is locked',
    file: 'packages/database/src/links/payment-links.ts',
    guard: 'if (known) return known;',
    instead: '',
    test: {
      file: 'packages/database/test/links/keeping.integration.test.ts',
      name: 'return what was begun while another request has them locked',
    },
  },
  {
    name: 'One account cannot take all connections to Postgres of its mode',
    file: 'packages/database/src/postgres/share.ts',
    guard: 'const owner = ownerNow();',
    instead: 'const owner = ownerNow() === null ? ownerNow() : undefined;',
    test: {
      file: 'packages/database/test/postgres/share.integration.test.ts',
      name: 'lets an owner take no connection, and no place in line, of another',
    },
  },
  {
    name: 'Outcomes are looked up in the turn of no account',
    file: 'services/gateway/src/outcomes.ts',
    guard: 'void forAll(() => this.#query())',
    instead: 'void this.#query()',
    test: {
      file: 'services/gateway/test/outcomes.unit.test.ts',
      name: 'are looked up in the turn of no account, though the request of one begins it',
    },
  },
  {
    name: 'A statement of a list reads about a megabyte of large rows',
    file: 'packages/database/src/postgres/page-bytes.ts',
    guard: 'WHERE bytes_before IS NULL OR bytes_before < ${PAGE_BYTES_MAX} ${order}',
    instead: '${order}',
    test: {
      file: 'packages/database/test/ledger/intent-list.integration.test.ts',
      name: 'reads about a megabyte of large intents for a page, and every one of them once',
    },
  },
  {
    name: 'A payment of a link counts once, however often the log is read',
    file: 'packages/domain/src/model/payment-link.ts',
    guard: 'if (!known || version <= known.version) return',
    instead: 'if (!known) return',
    test: {
      file: 'packages/domain/test/model/payment-link.unit.test.ts',
      name: 'ignores events that it has followed, and those of other intents',
    },
  },
  {
    name: 'A client secret that the service has not made opens nothing',
    file: 'packages/runtime/src/constant-time.ts',
    guard: 'one.length === other.length && timingSafeEqual(one, other)',
    instead: 'one.length === other.length',
    test: {
      file: 'services/gateway/test/client-secrets.unit.test.ts',
      name: 'reject secrets and tokens that they did not issue',
    },
  },
  {
    name: 'A client secret allows no request of the account',
    file: 'services/gateway/src/endpoint.ts',
    guard: '    requireAccess(holder, operation);\n',
    instead: '',
    test: {
      file: 'services/gateway/test/access.integration.test.ts',
      name: 'post /intents/{id}/cancel lets the client secret do what it may',
    },
  },
  {
    name: 'Payers see no metadata',
    file: 'services/gateway/src/endpoint.ts',
    guard: "...('intent' in body && { intent: payerView(body.intent as PublicIntent) }),",
    instead: '',
    test: {
      file: 'services/gateway/test/access.integration.test.ts',
      name: 'gives payers the intent without what is between the account and the service',
    },
  },
  {
    name: 'Payers see no metadata in a stream',
    file: 'services/gateway/src/events/stream.ts',
    guard: 'forPayer ? payerEventOf(body) : body',
    instead: 'body',
    test: {
      file: 'services/gateway/test/access.integration.test.ts',
      name: 'gives payers the events of the intent reduced, in the history and in the stream',
    },
  },
  {
    name: 'Payers take no quota of the account’s keys',
    file: 'services/gateway/src/endpoint.ts',
    guard: 'if (!opened) await limiter.admit(holder, request, response);',
    instead: 'await limiter.admit(holder, request, response);',
    test: {
      file: 'services/gateway/test/limits/rate-limits.integration.test.ts',
      name: 'count a request with a client secret for its intent and address, and for no key',
    },
  },
  {
    name: 'Payers take no turn of the account’s commands',
    file: 'services/gateway/src/limits/command-turns.ts',
    guard: '...(byPayer',
    instead: '...(byPayer && partition < 0',
    test: {
      file: 'services/gateway/test/limits/command-turns.unit.test.ts',
      name: 'take no turn of the account when payers send them, and few for one intent',
    },
  },
  {
    name: 'A payer cannot have transactions built without end',
    file: 'services/gateway/src/limits/limiter.ts',
    guard: 'if (!own.allowed) return own;',
    instead: '',
    test: {
      file: 'services/gateway/test/limits/limiter.unit.test.ts',
      name: 'has a budget of builds for an intent and for each address of its payers',
    },
  },
  {
    name: 'A Solana Pay token records no build',
    file: 'services/gateway/src/intents/build.ts',
    guard: "if (owner.scope === 'solana_pay_token') return { intent: view(intent), transaction: answer };",
    instead: '',
    test: {
      file: 'services/gateway/test/access.integration.test.ts',
      name: 'builds with a Solana Pay token without recording, because the wallet changes the transaction',
    },
  },
  {
    name: 'An MPP credential opens only the intent of an unchanged challenge',
    file: 'services/gateway/src/mpp/challenges.ts',
    guard: 'equalInConstantTime(macOf(key, intentId, livemode, challenge), given)',
    instead: 'macOf(key, intentId, livemode, challenge).length === given.length',
    test: {
      file: 'services/gateway/test/mpp/challenges.unit.test.ts',
      name: 'are rejected once any part was changed',
    },
  },
  {
    name: 'An MPP challenge ends with its intent',
    file: 'services/gateway/src/mpp/pay.ts',
    guard: 'if (Date.parse(credential.challenge.expires) <= now())',
    instead: 'if (false)',
    test: {
      file: 'services/gateway/test/mpp/mpp.integration.test.ts',
      name: 'returns 409 for an expired challenge, and no other challenge',
    },
  },
  {
    name: 'A hash that no node has shown is not looked for again at once',
    file: 'services/gateway/src/intents/looks.ts',
    guard: 'if (this.#absent.has(name)) throw notVisible();',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/looks.unit.test.ts',
      name: 'end after eight requests, and ask for nothing while the hash is known to be absent',
    },
  },
  {
    name: 'An account asks the chains for so much, however many intents it has',
    file: 'services/gateway/src/limits/limiter.ts',
    guard: '`chain ${accountId} ${livemode}`',
    instead: '`chain ${intentId}`',
    test: {
      file: 'services/gateway/test/limits/limiter.unit.test.ts',
      name: 'limits what an account asks the chains for in a mode, for all intents, and not what its payers do',
    },
  },
  {
    name: 'The hashes of an account are read and judged a few at a time',
    file: 'services/gateway/src/limits/waits.ts',
    guard: 'inTurn(`${accountId} ${livemode}`, account, () =>',
    instead: 'inTurn(`${accountId} ${livemode}`, 1_000, () =>',
    test: {
      file: 'services/gateway/test/limits/waits.unit.test.ts',
      name: 'read two of the hashes of an account at a time, a few of a mode, and the others in line',
    },
  },
  {
    name: 'What a hash has done is judged in the turns in which hashes are read',
    file: 'services/gateway/src/intents/looks.ts',
    guard: 'return this.#waits.read(holder, judge);',
    instead: 'return judge();',
    test: {
      file: 'services/gateway/test/intents/looks.unit.test.ts',
      name: 'ask a node for few hashes of an account at a time, and judge what was found in the same turns',
    },
  },
  {
    name: 'An account waits for few test events at a time',
    file: 'services/gateway/src/limits/waits.ts',
    guard: '[`${policy} ${accountId} ${livemode}`]: this.#times(account),',
    instead: '',
    test: {
      file: 'services/gateway/test/limits/waits.unit.test.ts',
      name: 'have room for a few test events of an account, of test mode, and in all, and beside them for looks',
    },
  },
  {
    name: 'An intent that has ended is refused before anything is parsed',
    file: 'services/gateway/src/intents/submit.ts',
    guard: 'requireUnended(requested.intent);',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/submit.integration.test.ts',
      name: 'is refused by the state of an intent that has ended, before it is parsed',
    },
  },
  {
    name: 'The first request to a sponsor waits for no second one of another account',
    file: 'services/gateway/src/sponsors/sponsor-calls.ts',
    guard: 'this.#firsts.take({ [accountId]: 1 })',
    instead: 'this.#firsts.take({ [accountId]: 0 })',
    test: {
      file: 'services/gateway/test/sponsors/sponsor-calls.unit.test.ts',
      name: 'keeps no account of test mode from its first request while the sponsors of others hang',
    },
  },
  {
    name: 'A reserve is for those who have nothing under way',
    file: 'packages/http/src/slots.ts',
    guard: 'this.take({ ...few, ...reserve })',
    instead: 'this.take({ ...own, ...reserve })',
    test: {
      file: 'packages/http/test/slots.unit.test.ts',
      name: 'have a reserve beside a full room for those who have nothing under way',
    },
  },
  {
    name: 'Two accounts do not take the reserve of streams',
    file: 'services/gateway/src/limits/open-streams.ts',
    guard: 'each: reserve.each,',
    instead: 'each: Infinity,',
    test: {
      file: 'services/gateway/test/limits/open-streams.unit.test.ts',
      name: 'has a reserve in live mode for accounts and addresses with few, where two accounts hold all',
    },
  },
  {
    name: 'Text that is stored has no control characters',
    file: 'packages/contracts/src/api/fields.ts',
    guard: '.refine((value) => controlIn(value) === null, {',
    instead: '.refine(() => true, {',
    test: {
      file: 'packages/contracts/test/api/api.unit.test.ts',
      name: 'refuses a control character in a metadata value, and says what the field must be',
    },
  },
  {
    name: 'A change counts by its size',
    file: 'services/gateway/src/limits/limiter.ts',
    guard: 'Math.ceil(Buffer.byteLength(JSON.stringify(metadata)) / CHANGE_BYTES) - 1;',
    instead: '0 * (metadata === null ? 0 : CHANGE_BYTES);',
    test: {
      file: 'services/gateway/test/limits/limiter.unit.test.ts',
      name: 'counts a change once for each 4 KiB of the metadata that the intent then has',
    },
  },
  {
    name: 'A small change of much metadata is counted as a large one',
    file: 'services/gateway/src/intents/update.ts',
    guard: 'await limiter.countSize(holder, intent.metadata);',
    instead: '',
    test: {
      file: 'services/gateway/test/intents/update.unit.test.ts',
      name: 'is counted by all metadata that the intent has after it, however little of that it names',
    },
  },
  {
    name: 'A refused create gives its amount back',
    file: 'services/gateway/src/intents/create.ts',
    guard: 'if (error instanceof ApiError && error.status < 500) await',
    instead: 'if (error === undefined) await',
    test: {
      file: 'services/gateway/test/intents/create.unit.test.ts',
      name: 'gives its amount back where it is refused with rate_limit.exceeded',
    },
  },
  {
    name: 'A key that was revoked while the body was held back does nothing',
    file: 'services/gateway/src/endpoint.ts',
    guard: 'if (!opened) await keys.stillHolder(authorization, 0);',
    instead: '',
    test: {
      file: 'services/gateway/test/held-back.unit.test.ts',
      name: 'is refused for createIntent when its key was revoked meanwhile',
    },
  },
];
