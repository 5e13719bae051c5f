/** Rules of docs/internals/architecture.md that need the graph of imports: circles, layers, files without a user. */
export default {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'services-stand-alone',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'packages-know-no-service',
      severity: 'error',
      from: { path: '^packages/', pathNot: '(^packages/testing/|/test/)' },
      to: { path: '^services/' },
    },
    {
      name: 'packages-know-no-infra',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^infra/' },
    },
    {
      name: 'domain-stands-alone',
      severity: 'error',
      from: { path: '^packages/domain/src/', pathNot: '^packages/domain/src/testing/' },
      to: { pathNot: '^packages/domain/src/' },
    },
    {
      name: 'no-test-code-in-production',
      severity: 'error',
      from: {
        path: '^(packages|services)/[^/]+/src/',
        pathNot: '(^packages/(testing|local-solana|simulation)/|/src/testing/)',
      },
      to: { path: '(^packages/(testing|local-solana|simulation)/|/test/|/src/testing/|^infra/)' },
    },
    {
      // What a browser loads is bundled from here: of our packages only types, the table of networks, how
      // texts of accounts are shown, and sounds.
      name: 'web-stands-alone',
      severity: 'error',
      from: { path: '^services/[^/]+/web/', pathNot: ['/test/', '/vite\\.config\\.mjs$'] },
      to: {
        path: '^(packages|services)/',
        pathNot: ['^services/[^/]+/web/', '/src/networks\\.ts$', '/src/unseen\\.ts$', '/src/sound/index\\.ts$'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '/src/', pathNot: '/src/(index|main)\\.tsx?$' },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules|generated|\\.tools)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['source', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.mjs', '.js'],
    },
  },
};
