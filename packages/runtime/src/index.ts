export { boundedCache } from './bounded-cache.ts';
export * from './config.ts';
export { equalInConstantTime } from './constant-time.ts';
export { errorTypeOf } from './error-type.ts';
export { Gathering } from './gathering.ts';
export * from './health.ts';
export { KeyedPlaces } from './keyed-places.ts';
export * from './logger.ts';
export {
  type CounterName,
  type HistogramName,
  type LevelName,
  METRICS,
  type MetricLabels,
  type MetricName,
} from './metrics/catalogue.ts';
export { BLOCK_MS, countBlocks, inWork, resumed } from './metrics/blocks.ts';
export { LATE_AFTER, LatePayments } from './metrics/late-payments.ts';
export { type Metric, prometheusName } from './metrics/metric.ts';
export {
  add,
  count,
  registerGauge,
  record,
  recordDuration,
  recordTo,
  isRecordingMetrics,
} from './metrics/recording.ts';
export * from './pause.ts';
export * from './periodic-task.ts';
export { Places } from './places.ts';
export * from './service.ts';
export * from './telemetry/spans.ts';
export { type Taken, TokenBucket } from './token-bucket.ts';
export { telemetryVariables } from './telemetry/variables.ts';
export { USER_AGENT } from './user-agent.ts';
