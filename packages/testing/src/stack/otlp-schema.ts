import type { INamespace } from 'protobufjs';

const one = (type: string, id: number) => ({ type, id });
const many = (type: string, id: number) => ({ type, id, rule: 'repeated' });

/**
 * The fields of OTLP 1.x that tests read, for protobufjs. The field numbers are those of
 * https://github.com/open-telemetry/opentelemetry-proto (trace.proto, metrics.proto, common.proto). Other fields are
 * ignored.
 */
export const OTLP_SCHEMA: INamespace = {
  nested: {
    ExportTraceServiceRequest: { fields: { resourceSpans: many('ResourceSpans', 1) } },
    ResourceSpans: { fields: { resource: one('Resource', 1), scopeSpans: many('ScopeSpans', 2) } },
    ScopeSpans: { fields: { spans: many('Span', 2) } },
    Span: {
      fields: {
        traceId: one('bytes', 1),
        spanId: one('bytes', 2),
        parentSpanId: one('bytes', 4),
        name: one('string', 5),
        kind: one('SpanKind', 6),
        startTimeUnixNano: one('fixed64', 7),
        endTimeUnixNano: one('fixed64', 8),
        attributes: many('KeyValue', 9),
        events: many('Event', 11),
        links: many('Link', 13),
        status: one('Status', 15),
      },
    },
    SpanKind: { values: { UNSPECIFIED: 0, INTERNAL: 1, SERVER: 2, CLIENT: 3, PRODUCER: 4, CONSUMER: 5 } },
    Event: { fields: { name: one('string', 2), attributes: many('KeyValue', 3) } },
    Link: { fields: { traceId: one('bytes', 1), spanId: one('bytes', 2), attributes: many('KeyValue', 4) } },
    Status: { fields: { message: one('string', 2), code: one('StatusCode', 3) } },
    StatusCode: { values: { UNSET: 0, OK: 1, ERROR: 2 } },
    ExportMetricsServiceRequest: { fields: { resourceMetrics: many('ResourceMetrics', 1) } },
    ResourceMetrics: { fields: { resource: one('Resource', 1), scopeMetrics: many('ScopeMetrics', 2) } },
    ScopeMetrics: { fields: { metrics: many('Metric', 2) } },
    Metric: { fields: { name: one('string', 1), description: one('string', 2), unit: one('string', 3) } },
    Resource: { fields: { attributes: many('KeyValue', 1) } },
    KeyValue: { fields: { key: one('string', 1), value: one('AnyValue', 2) } },
    AnyValue: {
      oneofs: { value: { oneof: ['stringValue', 'boolValue', 'intValue', 'doubleValue', 'arrayValue'] } },
      fields: {
        stringValue: one('string', 1),
        boolValue: one('bool', 2),
        intValue: one('int64', 3),
        doubleValue: one('double', 4),
        arrayValue: one('ArrayValue', 5),
      },
    },
    ArrayValue: { fields: { values: many('AnyValue', 1) } },
  },
};
