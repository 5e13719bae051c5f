import { z } from 'zod';
import { variables } from '../config.ts';

/** `name=value` pairs, comma-separated, both percent-encoded (W3C Baggage, as OpenTelemetry's variables have it). */
const pairs = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .refine(
    (parts) => parts.every((part) => /^[^=\s]+=[^\s]*$/.test(part) && isDecodable(part)),
    'must be name=value, comma-separated, special characters percent-encoded',
  )
  .transform((parts) =>
    Object.fromEntries(
      parts.map((part) => [
        part.slice(0, part.indexOf('=')).trim(),
        decodeURIComponent(part.slice(part.indexOf('=') + 1).trim()),
      ]),
    ),
  );

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    // A % that does not begin an encoded character.
    return false;
  }
}

const exporter = z.enum(['otlp', 'none'], 'must be otlp or none').default('otlp');

/**
 * The telemetry variables of every service, with OpenTelemetry's own names
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/). Part of each service's config.
 */
export const telemetryVariables = {
  /** Serves metrics to Prometheus at /metrics on this port of HOST. Absent: not at all. */
  METRICS_PORT: variables.port.optional(),
  /** The build that runs, as the image says of itself. Absent: the version in package.json. */
  SERVICE_VERSION: z
    .string()
    .regex(/^[\w.+-]{1,64}$/, 'must be a version such as 1.2.0 or 1.2.0-3-g5f2c1ab')
    .optional(),
  HOST: variables.host,
  /** The collector to which traces and metrics are sent by OTLP, without /v1/traces. Absent: nothing is sent. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
  /** The only protocol that is supported; others are refused rather than ignored. */
  OTEL_EXPORTER_OTLP_PROTOCOL: z.enum(['http/protobuf'], 'must be http/protobuf').default('http/protobuf'),
  /** May hold a collector's key: never logged. */
  OTEL_EXPORTER_OTLP_HEADERS: pairs,
  /** Milliseconds for one request. */
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(1).max(60_000).default(10_000),
  OTEL_TRACES_EXPORTER: exporter,
  OTEL_METRICS_EXPORTER: exporter,
  OTEL_TRACES_SAMPLER: z
    .enum([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ])
    .default('parentbased_always_on'),
  /** The share of traces that the two ratio samplers keep, 0 to 1. */
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  /** Milliseconds between two exports of metrics. */
  OTEL_METRIC_EXPORT_INTERVAL: z.coerce.number().int().min(100).max(3_600_000).default(60_000),
  /** More attributes of the process: `deployment.environment.name=production,k8s.pod.name=…`. */
  OTEL_RESOURCE_ATTRIBUTES: pairs,
  /** Turns all telemetry off, whatever else is set. */
  OTEL_SDK_DISABLED: variables.flag,
} as const;

export type TelemetryConfig = z.infer<z.ZodObject<typeof telemetryVariables>>;
