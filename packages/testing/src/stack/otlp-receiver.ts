import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import { z } from 'zod';
import { OTLP_SCHEMA } from './otlp-schema.ts';

const root = protobuf.Root.fromJSON(OTLP_SCHEMA);
const traces = root.lookupType('ExportTraceServiceRequest');
const metrics = root.lookupType('ExportMetricsServiceRequest');
/** Ids as hex, 64-bit numbers as text, defaults included. */
const PLAIN = {
  longs: String,
  enums: String,
  bytes: String,
  arrays: true,
  objects: true,
  defaults: true,
  oneofs: true,
} as const;

const hex = z.string().transform((base64) => Buffer.from(base64, 'base64').toString('hex'));
const anyValue = z
  .record(z.string(), z.unknown())
  .transform(({ value, ...values }) => (typeof value === 'string' ? values[value] : undefined));
const attributes = z
  .array(z.object({ key: z.string(), value: anyValue }))
  .transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, value])));
const resource = z.object({ attributes });
const span = z.object({
  traceId: hex,
  spanId: hex,
  parentSpanId: hex,
  name: z.string(),
  kind: z.string(),
  startTimeUnixNano: z.string().transform(BigInt),
  endTimeUnixNano: z.string().transform(BigInt),
  attributes,
  events: z.array(z.object({ name: z.string(), attributes })),
  links: z.array(z.object({ traceId: hex, spanId: hex })),
  status: z.object({ code: z.string() }).nullish(),
});
const traceRequest = z.object({
  resourceSpans: z.array(z.object({ resource, scopeSpans: z.array(z.object({ spans: z.array(span) })) })),
});
const metricRequest = z.object({
  resourceMetrics: z.array(
    z.object({
      resource,
      scopeMetrics: z.array(z.object({ metrics: z.array(z.object({ name: z.string(), unit: z.string() })) })),
    }),
  ),
});

/** A span as the collector receives it; `service` is `service.name` of its resource. */
export type ReceivedSpan = z.infer<typeof span> & {
  readonly service: string;
  readonly resource: Readonly<Record<string, unknown>>;
};

/** An OpenTelemetry collector on loopback (OTLP over HTTP, protobuf) that records what it receives. */
export interface OtlpReceiver {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  /** The names of metrics, by service. */
  readonly metrics: ReadonlyMap<string, ReadonlySet<string>>;
  /** The headers of the last request. */
  readonly headers: IncomingHttpHeaders;
  /** The errors of requests that could not be decoded. */
  readonly problems: readonly string[];
  readonly requests: number;
  /** May be changed at any time: records requests, refuses them, or accepts them and never responds. */
  behavior: 'keeps' | 'refuses' | 'hangs';
  close(): Promise<void>;
}

export async function otlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const names = new Map<string, Set<string>>();
  const problems: string[] = [];
  const receiver = { behavior: 'keeps' as OtlpReceiver['behavior'], headers: {} as IncomingHttpHeaders, requests: 0 };

  const serviceOf = ({ attributes: { 'service.name': name } }: z.infer<typeof resource>): string => String(name);
  const keep = (url: string, body: Buffer): void => {
    if (url === '/v1/traces') {
      const { resourceSpans } = traceRequest.parse(traces.toObject(traces.decode(body), PLAIN));
      for (const one of resourceSpans)
        for (const { spans: received } of one.scopeSpans)
          spans.push(
            ...received.map((each) => ({
              ...each,
              service: serviceOf(one.resource),
              resource: one.resource.attributes,
            })),
          );
    } else if (url === '/v1/metrics') {
      const { resourceMetrics } = metricRequest.parse(metrics.toObject(metrics.decode(body), PLAIN));
      for (const one of resourceMetrics) {
        const known = names.get(serviceOf(one.resource)) ?? new Set();
        names.set(serviceOf(one.resource), known);
        for (const { metrics: received } of one.scopeMetrics) for (const { name } of received) known.add(name);
      }
    } else throw new Error(`nothing is sent to ${url}`);
  };
  const handle = (url: string, body: Buffer, response: ServerResponse): void => {
    receiver.requests += 1;
    if (receiver.behavior === 'hangs') return;
    if (receiver.behavior === 'refuses') return void response.writeHead(503).end();
    try {
      keep(url, body);
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    } catch (error) {
      // Recorded: the test checks that there were none.
      problems.push(error instanceof Error ? error.message : String(error));
      response.writeHead(400).end();
    }
  };

  const server = createServer((request, response) => {
    receiver.headers = request.headers;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => handle(request.url ?? '', Buffer.concat(chunks), response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics: names,
    problems,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
