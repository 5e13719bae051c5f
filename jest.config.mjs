// Node runs the tests, on the TypeScript sources (infra/jest/runtime.mjs).
const shared = {
  runtime: '<rootDir>/infra/jest/runtime.mjs',
  testEnvironment: '<rootDir>/infra/jest/environment.mjs',
  testEnvironmentOptions: { globalsCleanup: 'off' },
  transform: {},
  watchPathIgnorePatterns: ['/\\.local/', '/\\.tools/'],
  modulePathIgnorePatterns: ['/\\.tools/', '/\\.local/'],
};
// What opens connections and starts processes has to end them.
const clean = { testEnvironment: '<rootDir>/infra/jest/clean-environment.mjs' };
// unit: no process beside the test. integration: on the real broker, database and chains, one package at a time.
// e2e: end to end, through the public API only, on services and chains of their own.
// stack: as e2e, on the stack that is running. drills: as e2e, while processes, brokers and databases are killed, fail
// over, are upgraded, or have a wrong clock.
export default {
  // Two cores run a broker, a database, chains and services beside the tests, and perhaps other work. Set for the whole
  // run, because Jest ignores a project's own.
  testTimeout: 300_000,
  // A worker with nothing open still ends only when V8 has finished compiling. On busy cores that takes longer than
  // Jest's default of half a second.
  workerGracefulExitTimeout: 10_000,
  testSequencer: '<rootDir>/infra/jest/sequencer.mjs',
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services,infra}/{*,*/web}/test/**/*.unit.test.ts'],
    },
    {
      ...shared,
      ...clean,
      displayName: 'integration',
      testMatch: ['<rootDir>/{packages,services,infra}/{*,*/web}/test/**/*.integration.test.ts'],
    },
    { ...shared, ...clean, displayName: 'stack', testMatch: ['<rootDir>/infra/e2e/test/**/*.stack.test.ts'] },
    { ...shared, ...clean, displayName: 'e2e', testMatch: ['<rootDir>/infra/e2e/test/**/*.e2e.test.ts'] },
    {
      ...shared,
      ...clean,
      displayName: 'drills',
      testMatch: ['<rootDir>/infra/e2e/test/**/*.drill.test.ts'],
      // A flood slows what runs beside it, and is slowed by it: by hand, alone (infra/e2e/test/operations/flood).
      testPathIgnorePatterns: ['/node_modules/', ...(process.env['PF_FLOOD_TIMES'] === undefined ? ['/flood/'] : [])],
    },
  ],
};
