export * from './decision.ts';
export * from './event.ts';
export * from './ids.ts';
export * from './input.ts';
export * from './intent.ts';
export * from './view.ts';
