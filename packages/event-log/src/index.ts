export * from './port.ts';
export type * from './transport.ts';
export { eventLogOver } from './event-log.ts';
export { assignPartitions } from './ownership/assigner.ts';
export type { EventLogOptions } from './kafka/options.ts';
export type { Compression } from './kafka/compression.ts';
export { createEventLog } from './kafka/event-log.ts';
export { eventLogOptions, kafkaVariables } from './kafka/environment.ts';
export { topicConfig } from './kafka/topics.ts';
