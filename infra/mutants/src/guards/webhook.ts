import type { Mutant } from '../mutant.ts';

/** What is sent to integrators. */
export const webhookGuards: readonly Mutant[] = [
  {
    name: 'Deliveries are written only where the position in the log is the expected one',
    file: 'packages/database/src/webhooks/positions.ts',
    guard: ' AND step.before = held.position',
    instead: '',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'writes deliveries together with the position in the log or not at all',
    },
  },
  {
    name: 'A partition that another reader has moved gets no deliveries beside those of others',
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: '(moved.has(partition) ? own : [])',
    instead: '(moved.has(partition) || own.length > 0 ? own : [])',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'is done for several partitions at once, without those that another reader has moved',
    },
  },
  {
    name: 'The webhook service plans by index, whatever the statistics say',
    file: 'packages/database/src/postgres/roles.ts',
    guard: "_endpoints(integer)'],\n    settings: { ...limits('9s', '5s', '15s'), ...BY_INDEX },",
    instead: "_endpoints(integer)'],\n    settings: limits('9s', '5s', '15s'),",
    test: {
      file: 'packages/database/test/webhooks/lane-plans.integration.test.ts',
      name: 'reads no delivery that has ended, though the statistics are from when all were due',
    },
  },
  {
    name: 'An event has one delivery a URL, however often it is read',
    file: 'packages/database/src/webhooks/new-deliveries.ts',
    guard: '\n     ON CONFLICT (event_id, endpoint_id) DO NOTHING',
    instead: '',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'writes no delivery twice if the position is set back and the log is read again',
    },
  },
  {
    name: 'An endpoint that does not keep up gets no further deliveries, once its account has too much undelivered',
    file: 'packages/database/src/webhooks/new-deliveries.ts',
    guard: 'by.filter(({ id }) => !behind.has(id))',
    instead: 'by',
    test: {
      file: 'services/webhook/test/missed-events.integration.test.ts',
      name: 'gets no delivery, while its account and others get theirs, and all it has missed once it accepts',
    },
  },
  {
    name: 'An endpoint gets no other events before those that it has missed',
    file: 'packages/database/src/webhooks/catch-ups.ts',
    guard: 'WHERE known OR lags AND',
    instead: 'WHERE lags AND',
    test: {
      file: 'services/webhook/test/missed-events.integration.test.ts',
      name: 'goes on missing events, in their order, until it has all of them',
    },
  },
  {
    name: 'Positions are not set back to events whose deliveries are forgotten',
    file: 'packages/cli/src/commands/positions.ts',
    guard: 'if (since < Date.now() - OLDEST_MS)',
    instead: 'if (since < 0)',
    test: {
      file: 'packages/cli/test/commands/positions.integration.test.ts',
      name: 'refuses to deliver again what it has forgotten',
    },
  },
  {
    name: 'A webhook is not sent before the projection shows its event',
    file: 'packages/database/src/webhooks/sending.ts',
    guard: 'AND (e.body IS NOT NULL OR d.intent_id IS NULL) AND',
    instead: 'AND',
    test: {
      file: 'packages/database/test/webhooks/deliveries.integration.test.ts',
      name: 'are not read before the projection shows their event',
    },
  },
  {
    name: 'One process at a time sends to a URL',
    file: 'packages/database/src/webhooks/lanes.ts',
    guard: 'holder = CASE WHEN lane.holder <> $2 AND lane.leased_until > $3 THEN lane.holder ELSE $2 END,',
    instead: 'holder = $2,',
    test: {
      file: 'packages/database/test/webhooks/lanes.integration.test.ts',
      name: 'has one holder at a time, until its lease ends',
    },
  },
  {
    name: 'A process that is refused a lane makes its holder look again',
    file: 'packages/database/src/webhooks/lanes.ts',
    guard: 'SET woken = lane.holder <> $2 AND lane.leased_until > $3,',
    instead: 'SET woken = false,',
    test: {
      file: 'packages/database/test/webhooks/lanes.integration.test.ts',
      name: 'is free at once when it is released, and only its holder releases it',
    },
  },
  {
    name: 'An attempt counts once',
    file: 'packages/database/src/webhooks/sending.ts',
    guard: ' AND d.attempt_count = r.number - 1`',
    instead: '`',
    test: {
      file: 'packages/database/test/webhooks/deliveries.integration.test.ts',
      name: 'count attempts, and keep their responses',
    },
  },
  {
    name: 'A replay sends an event to a URL once',
    file: 'packages/database/src/webhooks/replaying.ts',
    guard: ' AND known.replay_id IS DISTINCT FROM excluded.replay_id',
    instead: '',
    test: {
      file: 'packages/database/test/webhooks/replays.integration.test.ts',
      name: 'sends no event twice, though several endpoints have it and it fails again meanwhile',
    },
  },
  {
    name: 'A webhook endpoint gets the types that it asks for',
    file: 'packages/database/src/webhooks/new-deliveries.ts',
    guard: '(endpoint.event_types?.includes(event.eventType) ?? true),',
    instead: 'true,',
    test: {
      file: 'packages/database/test/webhooks/deliveries.integration.test.ts',
      name: 'are made for the types that their URL asks for',
    },
  },
  {
    name: 'Nothing is sent to a paused webhook endpoint',
    file: 'packages/database/src/webhooks/lanes.ts',
    guard: ' AND paused_at IS NULL ORDER BY id',
    instead: ' ORDER BY id',
    test: {
      file: 'packages/database/test/webhooks/lanes.integration.test.ts',
      name: 'is neither acquired nor renewed while its URL is paused',
    },
  },
  {
    name: 'A live webhook endpoint has an https:// URL',
    file: 'services/gateway/src/webhooks/endpoints.ts',
    guard: '{ httpAllowed: !holder.livemode || webhookAllowHttp }',
    instead: '{ httpAllowed: true }',
    test: {
      file: 'services/gateway/test/webhooks/endpoints.integration.test.ts',
      name: 'are refused beyond 16, and in live mode at http:// URLs',
    },
  },
  {
    name: 'A process does not start with another SECRETS_KEY than the others',
    file: 'packages/database/src/webhooks/secrets-key.ts',
    guard: 'if (known !== undefined) mustDecrypt(keyring, CANARY, known);',
    instead: '',
    test: {
      file: 'packages/database/test/webhooks/secrets-key.integration.test.ts',
      name: 'is refused at the start when it is not that of the others',
    },
  },
  {
    name: 'One webhook URL is added to an account at a time',
    file: 'packages/database/src/webhooks/endpoints.ts',
    guard: "await tx.$executeRaw(advisoryLock('webhook_endpoints', accountId));",
    instead: '',
    test: {
      file: 'packages/database/test/webhooks/endpoints.integration.test.ts',
      name: 'cannot exceed the limit',
    },
  },
  {
    name: 'Deliveries and the position in the log are one transaction',
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: 'return inTransaction(database, async (client) => {\n    const moved =',
    instead: 'return (async (work) => work(database.sql))(async (client) => {\n    const moved =',
    test: {
      file: 'packages/database/test/webhooks/positions.integration.test.ts',
      name: 'stays where it was if the deliveries cannot be written',
    },
  },
  {
    name: 'Accounts that have attempts under way leave slots to those that have none',
    file: 'services/webhook/src/fair-slots.ts',
    guard: 'if (this.#free > this.#share.reserved) for',
    instead: 'if (this.#free > 0) for',
    test: {
      file: 'services/webhook/test/fair-slots.unit.test.ts',
      name: 'are kept for accounts that have none, one for each',
    },
  },
  {
    name: 'An attempt that takes long gives its slot to those whose URLs are quick',
    file: 'services/webhook/src/lanes.ts',
    guard: 'if (slow.take(owner)) {',
    instead: 'if (owner === null) {',
    test: {
      file: 'services/webhook/test/slow-receivers.integration.test.ts',
      name: 'gets live events, and quick URLs test events, while slow ones hold all that they may in test mode',
    },
  },
  {
    name: 'An attempt that takes long keeps no slot where those for slow URLs are taken',
    file: 'services/webhook/src/lanes.ts',
    guard: 'else if (slots.setAside())',
    instead: 'else if (owner === null)',
    test: {
      file: 'services/webhook/test/slow-receivers.integration.test.ts',
      name: 'gets its first event while 14 other accounts hold all that they may after they were quick',
    },
  },
  {
    name: 'A URL that mostly takes long is slow',
    file: 'services/webhook/src/receiver-health.ts',
    guard: 'length > MEDIAN_OF / 2',
    instead: 'length > MEDIAN_OF',
    test: {
      file: 'services/webhook/test/receiver-health.unit.test.ts',
      name: 'is slow while three of its last five attempts were late',
    },
  },
  {
    name: 'A test event is never tried again',
    file: 'services/webhook/src/deliverer.ts',
    guard: ' || eventType === TEST',
    instead: '',
    test: {
      file: 'services/webhook/test/deliveries.integration.test.ts',
      name: 'is attempted once where it is a test event, whatever the receiver responds',
    },
  },
  {
    name: 'Whoever has the webhook service cannot list whose limits Redis counts',
    file: 'packages/redis/src/users.ts',
    guard: "...patterns, '-@all',",
    instead: "...patterns, '+@all',",
    test: {
      file: 'packages/redis/test/users.integration.test.ts',
      name: 'does not let webhook list the keys of others',
    },
  },
  {
    name: 'Whoever has the webhook service cannot read the keys of others by sorting its own',
    file: 'packages/redis/src/users.ts',
    guard: "  '-@dangerous',\n",
    instead: '',
    test: {
      file: 'packages/redis/test/users.integration.test.ts',
      name: 'lets webhook run nothing that harms others, or tells of them',
    },
  },
  {
    name: 'Whoever has a service cannot take the locks of others in Postgres',
    file: 'packages/database/src/postgres/roles.ts',
    guard: '^(pg_(try_)?advisory_|lo_|loread$|lowrite$)',
    instead: '^(lo_|loread$|lowrite$)',
    test: {
      file: 'packages/database/test/postgres/roles.integration.test.ts',
      name: 'let none fill the disk with large objects, or take the locks of others',
    },
  },
  {
    name: 'A delivery that was not accepted is kept, however many the account has',
    file: 'packages/database/src/webhooks/surplus-deliveries.ts',
    guard: "AND livemode = $2 AND status = 'delivered'",
    instead: 'AND livemode = $2',
    test: {
      file: 'packages/database/test/webhooks/surplus-deliveries.integration.test.ts',
      name: 'are kept as far as the newest of an account and mode, and what was not accepted all the same',
    },
  },
  {
    name: 'A replay whose step fails comes behind those of others',
    file: 'packages/database/src/webhooks/replaying.ts',
    guard: 'if (taken !== undefined)',
    instead: 'if (taken === null)',
    test: {
      file: 'packages/database/test/webhooks/replays.integration.test.ts',
      name: 'holds up no other by a step that fails',
    },
  },
  {
    name: 'The URL of an account has no characters that look like others or turn the direction',
    file: 'packages/contracts/src/endpoints.ts',
    guard: 'if (!ASCII.test(url))',
    instead: 'if (url === ASCII.source)',
    test: {
      file: 'packages/contracts/test/unseen.unit.test.ts',
      name: 'has no character that turns the direction',
    },
  },
  {
    name: 'An amount is known for a day after its time',
    file: 'services/webhook/src/retention.ts',
    guard: 'new Date(now() - AMOUNTS_KEPT_MS)',
    instead: 'new Date(now())',
    test: {
      file: 'services/webhook/test/retention.integration.test.ts',
      name: 'keeps one for a day after its time, as what pays it in time may be told later',
    },
  },
];
