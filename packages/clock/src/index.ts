export * from './clock.ts';
export * from './measured-clock.ts';
export * from './partition-times.ts';
