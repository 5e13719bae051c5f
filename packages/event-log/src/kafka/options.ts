import type { Compression } from './compression.ts';
import type { LogSink } from '../port.ts';

/** The address of the cluster and the identity of this process. */
export interface EventLogOptions {
  /** `host:port` of one or more bootstrap brokers. */
  readonly brokers: readonly string[];
  /** Partitions of every topic; never changes once the log exists. At most 256: an intent's id has one byte for it. */
  readonly partitions: number;
  /** Shown in the broker's logs and metrics, e.g. `intent`. */
  readonly clientId: string;
  /** Prefix of topics, groups and transactional ids, so that stacks and tests can share a broker. */
  readonly prefix?: string;
  /** Replicas of every partition: 1 locally, 3 in production (2 in sync to accept a record). Default 1. */
  readonly replication?: number;
  /** How this process compresses what it sends; it reads all of them. Default zstd. */
  readonly compression?: Compression;
  readonly ssl?: boolean;
  readonly sasl?: Sasl;
  /** Milliseconds without a heartbeat until a member's partitions go to another, as after kill -9. Default 6000. */
  readonly sessionTimeoutMs?: number;
  /** Receives the client library's log; a pino logger fits. Default: none. */
  readonly logger?: LogSink;
}

type PasswordMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512';
type Sasl =
  | {
      [Mechanism in PasswordMechanism]: {
        readonly mechanism: Mechanism;
        readonly username: string;
        readonly password: string;
      };
    }[PasswordMechanism]
  | {
      readonly mechanism: 'oauthbearer';
      /** Called for each connection, and again before its session ends. It reuses a token while it is valid. */
      readonly oauthBearerProvider: () => Promise<{ value: string }>;
    };

/** The smallest value that a broker accepts by default. */
export const SESSION_TIMEOUT_MS = 6_000;
