/** What a container of the image can be. Each is loaded when it is asked for, and runs as it is loaded. */
export const COMMANDS = {
  gateway: { does: 'the HTTP API', run: () => import('@pf/gateway/main') },
  intent: { does: 'the single writer of the ledger', run: () => import('@pf/intent/main') },
  watcher: { does: 'follows the networks in NETWORKS', run: () => import('@pf/watcher/main') },
  webhook: { does: 'signed deliveries', run: () => import('@pf/webhook/main') },
  migrate: { does: 'applies the migrations that the database lacks, and ends', run: () => import('./migrate.ts') },
  topics: { does: 'creates the Kafka topics that are missing, checks all, and ends', run: () => import('./topics.ts') },
  health: {
    does: 'asks the service in this container whether it makes progress, and ends',
    run: () => import('./health.ts'),
  },
  pf: { does: 'the command line: accounts, keys, webhooks, screening; `pf --help`', run: () => import('@pf/cli/main') },
} as const;

export const isCommand = (text: string): text is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, text);
