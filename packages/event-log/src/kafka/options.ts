/** Where the cluster is and how this process presents itself to it. */
export interface EventLogOptions {
  /** `host:port` of one or more brokers to ask first. */
  readonly brokers: readonly string[];
  /** Partitions of every topic; never changes once the log exists. At most 256: an intent's id has one byte for it. */
  readonly partitions: number;
  /** Shown in the broker's logs and metrics, e.g. `intent`. */
  readonly clientId: string;
  /** Stands before the names of topics, groups and transactional ids, so that stacks and tests can share a broker. */
  readonly prefix?: string;
  /** Copies of every partition: 1 locally, 3 in production (with 2 of them in sync to accept a record). Default 1. */
  readonly replication?: number;
  readonly ssl?: boolean;
  readonly sasl?: Sasl;
  /** How long a member of a group may be silent before its partitions go to another: the take-over time after kill -9. Default 6000. */
  readonly sessionTimeoutMs?: number;
  /** Receives what the client library has to say; a pino logger fits. Default: silence. */
  readonly logger?: LogSink;
}

type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';
export type Sasl = {
  [Mechanism in SaslMechanism]: { readonly mechanism: Mechanism; readonly username: string; readonly password: string };
}[SaslMechanism];

export interface LogSink {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** The least that a broker accepts unless told otherwise. */
export const SESSION_TIMEOUT_MS = 6_000;

export const SILENT: LogSink = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
