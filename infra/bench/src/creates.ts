import autocannon from 'autocannon';

/** A service that takes creates. */
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

/**
 * As many creates as so many clients get answered, each sending its next when it has the answer to the last.
 * @param more what each create has beside a plain request
 * @throws Error where anything but 201 was answered
 */
export async function measureCreates(
  { url, apiKey }: Target,
  more: () => object,
  clients: number,
  seconds: number,
): Promise<Measured> {
  const result = await autocannon({
    url: `${url}/v1/intents`,
    connections: clients,
    duration: seconds,
    requests: [
      {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        setupRequest: (request) => ({
          ...request,
          body: JSON.stringify({
            chain: 'eip155:84532',
            token: 'USDC',
            amount: '12.50',
            requestor: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
            ...more(),
            metadata: { order: 'A-1001' },
          }),
        }),
      },
    ],
  });
  const created = result.statusCodeStats?.['201']?.count ?? 0;
  const others = result.requests.total - created;
  if (result.errors > 0 || others > clients)
    throw new Error(`${result.errors} errors and ${others} answers other than 201 from ${url}`);
  return { perSecond: created / result.duration, p50: result.latency.p50, p99: result.latency.p99 };
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
