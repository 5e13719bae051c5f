export * from './account.ts';
export * from './api.ts';
export * from './errors.ts';
export * from './dead-letter.ts';
export * from './ids.ts';
export * from './intent-state.ts';
export * from './messages.ts';
export * from './scalars.ts';
