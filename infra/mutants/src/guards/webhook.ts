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
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: 'SELECT d.id, e.body, e.at FROM service.deliveries d\n               JOIN',
    instead: "SELECT d.id, coalesce(e.body, '{}') AS body, e.at FROM service.deliveries d LEFT JOIN",
    test: {
      file: 'packages/database/test/webhooks/deliveries.integration.test.ts',
      name: 'are not claimed before the projection shows their event',
    },
  },
  {
    name: 'A delivery is one worker’s until its lease ends',
    file: 'packages/database/src/webhooks/deliveries.ts',
    guard: 'last_attempted_at = $2, next_attempt_at = $3',
    instead: 'last_attempted_at = $2, next_attempt_at = least($2, $3)',
    test: {
      file: 'packages/database/test/webhooks/deliveries.integration.test.ts',
      name: 'are claimed by one worker at a time, and again only after its lease has ended',
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
