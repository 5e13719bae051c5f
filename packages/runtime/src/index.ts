export * from './config.ts';
export * from './health.ts';
export * from './logger.ts';
export * from './pause.ts';
export * from './rounds.ts';
export * from './service.ts';
export * from './telemetry.ts';
