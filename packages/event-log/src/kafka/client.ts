import net from 'node:net';
import tls from 'node:tls';
import kafkajs from 'kafkajs';
import type { ISocketFactory, Kafka, logCreator, RetryOptions } from 'kafkajs';
import type { EventLogOptions, LogSink } from './options.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 60_000;

/** Every field is given: what is left out falls back to defaults that differ under test, or do not do what is documented. */
export const PATIENT_RETRY: RetryOptions = {
  initialRetryTime: 50,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 1_000,
  retries: 8,
};
/** For transactions: a coordinator that is busy with the last commit is free again within milliseconds. */
export const QUICK_RETRY: RetryOptions = {
  initialRetryTime: 5,
  multiplier: 1.5,
  factor: 0.2,
  maxRetryTime: 1_000,
  retries: 15,
};
/** For callers that have a loop of their own around it. */
export const BRIEF_RETRY: RetryOptions = {
  initialRetryTime: 20,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 200,
  retries: 2,
};

/** As the library's own, but without Nagle's delay: it holds a small request back until the last one is acknowledged. */
const socketFactory: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const socket = ssl
    ? tls.connect({ host, port, ...(net.isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : net.connect({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
  return socket;
};

/** The library calls an error what it mends by itself a moment later. What matters reaches our own code, which says so. */
function logCreatorFor(sink: LogSink): logCreator {
  return () =>
    ({ namespace, log: { message, timestamp: _timestamp, logger: _logger, ...fields } }) =>
      sink.debug(fields, `kafka ${namespace}: ${message}`);
}

/**
 * A client of its own for each consumer, producer and reader: clients share a map of committed offsets that is marked
 * before a commit, and one connection that a waiting fetch would block for all.
 *
 * @param name tells the connections of one process apart in the broker's logs
 */
export function createClient(
  options: EventLogOptions,
  name: string,
  retry: RetryOptions,
  timeoutMs = REQUEST_TIMEOUT_MS,
): Kafka {
  const { logger, sasl } = options;
  return new kafkajs.Kafka({
    clientId: `${options.clientId}-${name}`,
    brokers: [...options.brokers],
    connectionTimeout: Math.min(CONNECT_TIMEOUT_MS, timeoutMs),
    requestTimeout: timeoutMs,
    retry,
    socketFactory,
    logLevel: logger ? kafkajs.logLevel.WARN : kafkajs.logLevel.NOTHING,
    ...(logger ? { logCreator: logCreatorFor(logger) } : {}),
    ...(options.ssl === true ? { ssl: true } : {}),
    ...(sasl ? { sasl } : {}),
  });
}
