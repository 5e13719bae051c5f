/** The commands of the image. Each module is loaded on demand, and runs when it is loaded. */
export const COMMANDS = {
  gateway: { summary: 'the HTTP API', run: () => import('@pf/gateway/main') },
  intent: { summary: 'the single writer of the ledger', run: () => import('@pf/intent/main') },
  watcher: { summary: 'watches the networks in NETWORKS', run: () => import('@pf/watcher/main') },
  webhook: { summary: 'delivers signed webhooks', run: () => import('@pf/webhook/main') },
  dashboard: { summary: 'accounts and their people', run: () => import('@pf/dashboard/main') },
  checkout: { summary: 'the page on which people pay', run: () => import('@pf/checkout/main') },
  archive: { summary: 'copies the ledger to Parquet files', run: () => import('@pf/archive-service/main') },
  migrate: {
    summary: 'applies the migrations that the database lacks, gives the roles their rights, and exits',
    run: () => import('./migrate.ts'),
  },
  topics: { summary: 'creates missing Kafka topics, checks all, and exits', run: () => import('./topics.ts') },
  health: {
    summary: 'checks that the service in this container makes progress, and exits',
    run: () => import('./health.ts'),
  },
  idle: { summary: 'does nothing until it is ended: after migrate and topics', run: () => import('./idle.ts') },
  operator: { summary: 'waits, so that an operator can run `pf` beside it', run: () => import('./operator.ts') },
  pf: {
    summary: 'the command line: accounts, keys, webhooks, screening; see `pf --help`',
    run: () => import('@pf/cli/main'),
  },
} as const;

export const isCommand = (text: string): text is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, text);
