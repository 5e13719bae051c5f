export * from './accounts.ts';
export * from './api-keys.ts';
export * from './database.ts';
export * from './migrate.ts';
