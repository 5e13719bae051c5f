export * from './accounts.ts';
export * from './api-keys.ts';
export * from './database.ts';
export * from './migrate.ts';
export * from './network-watches.ts';
export * from './signed-transactions.ts';
export * from './watched-intents.ts';
