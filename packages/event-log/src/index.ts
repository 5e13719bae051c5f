export * from './port.ts';
export type { EventLogOptions, LogSink } from './options.ts';
export { createEventLog } from './kafka-event-log.ts';
export { eventLogOptions, kafkaVariables } from './environment.ts';
