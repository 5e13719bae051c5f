import type { Mutant } from '../mutant.ts';

/** What is sent to integrators. */
export const webhookGuards: readonly Mutant[] = [
  {
    name: 'Deliveries are written only where the position in the log is the expected one',
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: 'if (!(await moveWebhookPosition(client, partition, from, next))) return null;',
    instead: 'await moveWebhookPosition(client, partition, from, next);',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'writes deliveries together with the position in the log or not at all',
    },
  },
  {
    name: 'An event has one delivery a URL, however often it is read',
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: '\n     ON CONFLICT (event_id, endpoint_id) DO NOTHING',
    instead: '',
    test: {
      file: 'packages/database/test/store/store.integration.test.ts',
      suite: 'packages/database/test/store/suite.ts',
      name: 'writes no delivery twice if the position is set back and the log is read again',
    },
  },
  {
    name: 'Positions are not set back to events whose deliveries are forgotten',
    file: 'packages/cli/src/commands/positions.ts',
    guard: 'if (since < Date.now() - OLDEST_MS)',
    instead: 'if (since < 0)',
    test: {
      file: 'packages/cli/test/positions.integration.test.ts',
      name: 'refuses to deliver again what it has forgotten',
    },
  },
  {
    name: 'A webhook is not sent before the projection shows its event',
    file: 'packages/database/src/webhooks/sending.ts',
    guard: 'AND coalesce(e.body, d.body) IS NOT NULL AND',
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
      name: 'count what was sent, and keep what came back',
    },
  },
  {
    name: 'Deliveries and the position in the log are one transaction',
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: 'return inTransaction(database, async (client) => {\n    if (!(await moveWebhookPosition(',
    instead: 'return (async (work) => work(database.sql))(async (client) => {\n    if (!(await moveWebhookPosition(',
    test: {
      file: 'packages/database/test/webhooks/positions.integration.test.ts',
      name: 'stays where it was if the deliveries cannot be written',
    },
  },
];
