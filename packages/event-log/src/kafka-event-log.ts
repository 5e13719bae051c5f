import type { EventLog } from './port.ts';
import type { EventLogOptions } from './options.ts';

/** The log of a Kafka cluster. Opens no connection until something is asked of it. */
export function createEventLog(options: EventLogOptions): EventLog {
  throw new Error(`The log at ${options.brokers.join(', ')} cannot be opened yet`);
}
