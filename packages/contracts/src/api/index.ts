export * from './authorization.ts';
export * from './intent.ts';
export * from './intent-list.ts';
export * from './intent-requests.ts';
export * from './limits.ts';
export * from './paging.ts';
export * from './parsing.ts';
export { type Differences } from './replayed.ts';
