import net from 'node:net';
import tls from 'node:tls';
import kafkajs from 'kafkajs';
import type { ISocketFactory, Kafka, logCreator, Producer, RetryOptions } from 'kafkajs';
import { REAUTHENTICATE_MS } from './bearer-token.ts';
import type { EventLogOptions } from './options.ts';
import type { LogSink } from '../port.ts';
import type { Lifeline } from './lifeline.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

/** All fields are set: the library's defaults differ under test or from their documentation. */
export const PATIENT_RETRY: RetryOptions = {
  initialRetryTime: 50,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 1_000,
  retries: 8,
};
/** For transactions: a coordinator that is busy with the last commit is ready within milliseconds. */
export const QUICK_RETRY: RetryOptions = {
  initialRetryTime: 5,
  multiplier: 1.5,
  factor: 0.2,
  maxRetryTime: 1_000,
  retries: 15,
};
/** For members of a group: they try on while brokers are unavailable, and notice their return at once. */
export const MEMBER_RETRY: RetryOptions = {
  initialRetryTime: 50,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 250,
  retries: 8,
};
/** For callers that retry by themselves. */
export const BRIEF_RETRY: RetryOptions = {
  initialRetryTime: 20,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 200,
  retries: 2,
};

/** The library's socket without Nagle's delay, which holds a small request back until the last one is acknowledged. */
const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const socket = ssl
    ? tls.connect({ host, port, ...(net.isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : net.connect({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  return socket;
};

/** The library logs errors that it retries. Those that matter reach our code, which logs them. */
function logCreatorFor(sink: LogSink): logCreator {
  return () =>
    ({ namespace, log: { message, timestamp: _timestamp, logger: _logger, ...fields } }) =>
      sink.debug(fields, `kafka ${namespace}: ${message}`);
}

interface ClientSettings {
  readonly timeoutMs?: number;
  /** Ends the client's work when a connection is lost. */
  readonly lifeline?: Lifeline | null;
}

/**
 * Each consumer, producer and reader gets its own client: a client has one map of committed offsets, updated before the
 * commit, and one connection, which a waiting fetch would block for all.
 *
 * @param name distinguishes the connections of one process in the broker's logs
 */
export function createClient(
  options: EventLogOptions,
  name: string,
  retry: RetryOptions,
  { timeoutMs = REQUEST_TIMEOUT_MS, lifeline = null }: ClientSettings = {},
): Kafka {
  const { logger, sasl } = options;
  return new kafkajs.Kafka({
    clientId: `${options.clientId}-${name}`,
    brokers: [...options.brokers],
    connectionTimeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    requestTimeout: timeoutMs,
    retry,
    socketFactory: lifeline ? lifeline.over(socketFactory) : socketFactory,
    logLevel: logger ? kafkajs.logLevel.WARN : kafkajs.logLevel.NOTHING,
    ...(logger ? { logCreator: logCreatorFor(logger) } : {}),
    ...(options.ssl === true ? { ssl: true } : {}),
    // The library keeps state of a connection's login in it.
    ...(sasl ? { sasl: { ...sasl }, reauthenticationThreshold: REAUTHENTICATE_MS } : {}),
  });
}

/** A producer without idempotence, which writes each record to the partition that the record names. */
export const createProducer = (client: Kafka): Producer =>
  client.producer({
    allowAutoTopicCreation: false,
    retry: BRIEF_RETRY,
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });
