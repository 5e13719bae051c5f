import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

// Who may import whom, and rules that a reader should not have to check by eye.
// docs/internals/architecture.md says why.
const owned = {
  ethers: {
    group: ['ethers', 'ethers/*', 'viem', 'viem/*', '@solana/*'],
    message: 'Chains are spoken to in packages/chains only.',
  },
  kafka: { group: ['kafkajs', 'kafkajs/*'], message: 'Kafka is spoken to in packages/event-log only.' },
  postgres: {
    // The adapter of the sign-in library is given the client of packages/database.
    group: ['pg', '@prisma/*', 'prisma', '**/generated/prisma/*', '!better-auth/adapters/prisma'],
    message: 'Postgres is spoken to in packages/database only.',
  },
  redis: {
    group: ['ioredis', 'ioredis/*', 'bullmq', 'bullmq/*'],
    message: 'Redis is spoken to in packages/redis only.',
  },
  services: {
    group: [
      '@pf/gateway',
      '@pf/intent',
      '@pf/watcher',
      '@pf/webhook',
      '@pf/checkout',
      '@pf/checkout/*',
      '@pf/dashboard',
      '@pf/dashboard/*',
      '**/services/**',
    ],
    message: 'A service imports packages, never another service.',
  },
  testing: {
    group: ['@pf/testing', '@pf/local', '@pf/local-solana', '@pf/simulation/*'],
    message: 'Production code does not import test code.',
  },
};
/** A process that starts, and each test file, would load all of these libraries for a function or two. */
const INDEXES = ['ethers', 'jose', 'ox', 'ox/tempo'];
const only = (...allowed) => [
  'error',
  {
    paths: INDEXES.map((name) => ({ name, message: 'Import the part that is needed, as in "ethers/address".' })),
    patterns: Object.entries(owned)
      .filter(([name]) => !allowed.includes(name))
      .map(([, rule]) => rule),
  },
];

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/node_modules/',
      '**/generated/',
      '.tools/',
      '.local/',
      'coverage/',
      '**/*.mjs',
      '**/prisma.config.ts',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // One program for all: one for each package would read its dependencies again. The others are for browsers.
        project: [
          'tsconfig.tests.json',
          'packages/client/tsconfig.json',
          'services/dashboard/web/tsconfig.json',
          'services/checkout/web/test/tsconfig.json',
        ],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      'no-console': 'error',
      eqeqeq: 'error',
      'no-warning-comments': ['error', { terms: ['todo', 'fixme', 'xxx', 'hack'] }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // An async function that has nothing to await still keeps its port's promise.
      '@typescript-eslint/require-await': 'off',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'The environment is read in packages/runtime only.' },
      ],
      'no-restricted-imports': only(),
    },
  },
  { files: ['packages/chains/src/**'], rules: { 'no-restricted-imports': only('ethers') } },
  // The payment page decodes what it asks a wallet to sign, by itself.
  { files: ['services/checkout/web/src/check/**'], rules: { 'no-restricted-imports': only('ethers') } },
  { files: ['packages/event-log/src/**'], rules: { 'no-restricted-imports': only('kafka') } },
  { files: ['packages/database/src/**'], rules: { 'no-restricted-imports': only('postgres') } },
  { files: ['packages/redis/src/**'], rules: { 'no-restricted-imports': only('redis') } },
  {
    files: ['packages/domain/src/**'],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ regex: '^[^.]', message: 'The domain imports nothing but its own files.' }] },
      ],
      'no-restricted-globals': ['error', 'Date', 'crypto', 'process', 'fetch', 'setTimeout', 'performance'],
    },
  },
  // given/when/then compares with Node's own assertions.
  {
    files: ['packages/domain/src/testing/**'],
    rules: { 'no-restricted-imports': only(), 'no-restricted-globals': 'off' },
  },
  { files: ['services/*/web/**'], ...reactHooks.configs.flat['recommended-latest'] },
  // The only global of time the domain may touch is the formatting of an instant it was given.
  { files: ['packages/domain/src/model/view.ts'], rules: { 'no-restricted-globals': 'off' } },
  // The image's health check loads nothing of ours.
  {
    files: ['packages/runtime/src/**', 'infra/docker/src/health.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  // One JSON-RPC client; the local chain, the tests' proxy and the paymaster service of an intent are servers.
  {
    files: ['{packages,services,infra}/*/src/**'],
    ignores: [
      'packages/{rpc,local-solana,simulation,testing}/**',
      'packages/contracts/src/sponsors.ts',
      'services/checkout/src/paymaster.ts',
      'services/gateway/src/sponsors/paymaster.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'Property[key.name="jsonrpc"], Property[key.value="jsonrpc"]',
          message: 'JSON-RPC is spoken in packages/rpc only.',
        },
      ],
    },
  },
  {
    files: [
      'packages/local-solana/**',
      'packages/testing/**',
      'packages/simulation/**',
      'infra/{bench,e2e,generate,k8s-checks,local,mutants,release,simulation}/**',
      '**/test/**',
    ],
    rules: {
      'no-restricted-imports': only('ethers', 'kafka', 'postgres', 'testing', 'services'),
      'no-restricted-properties': 'off',
    },
  },
  // The loop that the webhook service is compared with.
  { files: ['infra/bench/src/webhooks/**'], rules: { 'no-restricted-imports': only('redis', 'testing', 'services') } },
  {
    files: ['infra/{bench,e2e,generate,local,mutants,simulation}/**', 'packages/{local-solana,testing}/**'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/test/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'MemberExpression[object.name=/^(it|test|describe)$/][property.name=/^(skip|only|todo)$/]',
          message: 'Every test runs.',
        },
        { selector: 'CallExpression[callee.name=/^x(it|describe|test)$/]', message: 'Every test runs.' },
      ],
    },
  },
);
