import Sequencer from '@jest/test-sequencer';

/**
 * Test files that take a minute or more. Without the times of an earlier run Jest goes by their size, which says
 * nothing here: their cases are generated, shared, or wait. One of them at the end would run alone on all cores.
 */
const LONG = [
  'infra/e2e/test/brokers/kill-brokers.drill.test.ts',
  'infra/e2e/test/chains/faulty-nodes.e2e.test.ts',
  'infra/e2e/test/checkout/paying.stack.test.ts',
  'infra/e2e/test/operations/complete-log.drill.test.ts',
  'infra/e2e/test/operations/restore.drill.test.ts',
  'infra/e2e/test/submitting/submitting.e2e.test.ts',
  'infra/simulation/test/runner/seeds.unit.test.ts',
  'packages/chains/test/providers/base.integration.test.ts',
  'packages/chains/test/providers/solana.integration.test.ts',
  'packages/chains/test/solana/mutations.unit.test.ts',
  'packages/cli/test/commands/positions.integration.test.ts',
  'packages/rpc/test/pool.unit.test.ts',
  'services/gateway/test/intents/generated-requests.integration.test.ts',
];
const isLong = ({ path }) => LONG.some((file) => path.endsWith(file));

/** Jest's order, with the long files first. */
export default class LongFirst extends Sequencer {
  sort(tests) {
    const ordered = super.sort(tests);
    return [...ordered.filter(isLong), ...ordered.filter((test) => !isLong(test))];
  }
}
