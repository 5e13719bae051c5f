import autocannon from 'autocannon';

/** A service that takes creates and reads. */
export interface Target {
  readonly name: string;
  readonly url: string;
  readonly apiKey: string;
}
export interface Measured {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

interface Load {
  /** Each sends its next request when it has the response to the last. */
  readonly clients: number;
  readonly seconds: number;
  /** The most requests a second of all clients together; without it as many as they get answered. */
  readonly perSecond?: number;
}

/** @throws Error where anything but the expected status was answered */
async function measure(
  { url, apiKey }: Target,
  { method, path, expected, body }: { method: 'GET' | 'POST'; path: string; expected: number; body?: () => object },
  { clients, seconds, perSecond }: Load,
): Promise<Measured> {
  const result = await autocannon({
    url: `${url}${path}`,
    connections: clients,
    duration: seconds,
    ...(perSecond !== undefined && { overallRate: perSecond }),
    requests: [
      {
        method,
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body && { setupRequest: (request) => ({ ...request, body: JSON.stringify(body()) }) }),
      },
    ],
  });
  const answered = result.statusCodeStats?.[`${expected}`]?.count ?? 0;
  const others = result.requests.total - answered;
  if (result.errors > 0 || others > clients)
    throw new Error(`${result.errors} errors and ${others} responses other than ${expected} from ${url}${path}`);
  return { perSecond: answered / result.duration, p50: result.latency.p50, p99: result.latency.p99 };
}

/**
 * As many creates as so many clients get answered.
 * @param more what each create has beside a plain request
 * @param perSecond the most that are sent a second
 * @throws Error where anything but 201 was answered
 */
export function measureCreates(
  target: Target,
  more: () => object,
  clients: number,
  seconds: number,
  perSecond?: number,
): Promise<Measured> {
  const body = (): object => ({
    chain: 'eip155:84532',
    token: 'USDC',
    amount: '12.50',
    requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    ...more(),
    metadata: { order: 'A-1001' },
  });
  const load = { clients, seconds, ...(perSecond !== undefined && { perSecond }) };
  return measure(target, { method: 'POST', path: '/v1/intents', expected: 201, body }, load);
}

/**
 * As many reads of a path as so many clients get answered.
 * @throws Error where anything but 200 was answered
 */
export const measureReads = (target: Target, path: string, clients: number, seconds: number): Promise<Measured> =>
  measure(target, { method: 'GET', path, expected: 200 }, { clients, seconds });
