export * as deposits from './deposits.ts';
export * as events from './events.ts';
export * from './given.ts';
export * from './inputs.ts';
export * as samples from './samples.ts';
