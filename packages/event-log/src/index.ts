export * from './port.ts';
export type { EventLogOptions, LogSink } from './kafka/options.ts';
export { createEventLog } from './kafka-event-log.ts';
export { eventLogOptions, kafkaVariables } from './kafka/environment.ts';
