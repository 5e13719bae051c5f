// Tests run on the TypeScript sources: the "source" condition of every package.json points there.
const shared = {
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  // This dependency exports its own TypeScript under the condition "source".
  transformIgnorePatterns: ['/node_modules/(?!\\.pnpm/eventsource-parser@|eventsource-parser/)'],
  // One module of viem/tempo takes one chain from the index of all 700, which costs each test file most of a second.
  moduleNameMapper: { '^\\.\\./\\.\\./\\.\\./chains/index\\.js$': '../../../chains/definitions/tempo.js' },
  watchPathIgnorePatterns: ['/\\.local/', '/\\.tools/'],
  modulePathIgnorePatterns: ['/\\.tools/', '/\\.local/'],
};
// What opens connections and starts processes has to end them.
const clean = { testEnvironment: '<rootDir>/jest.environment.mjs' };
// unit: no process beside the test. integration: on the real broker, database and chains, one package at a time.
// e2e: end to end, through the public API only, on services and chains of their own.
// stack: as e2e, on the stack that is running. drills: as e2e, while processes, brokers and databases are killed, fail
// over, are upgraded, or have a wrong clock.
export default {
  // Two cores run a broker, a database, chains and services beside the tests, and perhaps other work. Set for the whole
  // run, because Jest ignores a project's own.
  testTimeout: 120_000,
  // A worker with nothing open still ends only when V8 has finished compiling. On busy cores that takes longer than
  // Jest's default of half a second.
  workerGracefulExitTimeout: 10_000,
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
    { ...shared, ...clean, displayName: 'drills', testMatch: ['<rootDir>/infra/e2e/test/**/*.drill.test.ts'] },
  ],
};
