/** The main of a service, which the image holds compiled. It is found by its name when it is asked for, and runs as it is loaded. */
const mainOf = (service: string) => () => import(`@pf/${service}/dist/main.js`) as Promise<unknown>;

/** What a container of the image can be. */
export const COMMANDS = {
  gateway: { does: 'the HTTP API', run: mainOf('gateway') },
  intent: { does: 'the single writer of the ledger', run: mainOf('intent') },
  watcher: { does: 'follows the networks in NETWORKS', run: mainOf('watcher') },
  webhook: { does: 'signed deliveries', run: mainOf('webhook') },
  migrate: { does: 'applies the migrations that the database lacks, and ends', run: () => import('./migrate.ts') },
  topics: { does: 'creates the Kafka topics that are missing, checks all, and ends', run: () => import('./topics.ts') },
  health: { does: 'asks the service in this container whether it makes progress, and ends', run: () => import('./health.ts') },
  pf: { does: 'the command line: accounts, keys, webhooks, screening; `pf --help`', run: () => import('@pf/cli/main') },
} as const;

export const isCommand = (text: string): text is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, text);
