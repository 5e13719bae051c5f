import { describe, expect, it } from '@jest/globals';
import { type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import { EdgeSampler, ofStranger } from '../../src/telemetry/edge-sampler.ts';

/** As little as an id can be: a sampler by a ratio keeps these first. */
const KEPT_ID = '1'.padStart(32, '0');
const parent = (traceFlags: 0 | 1): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId: KEPT_ID, spanId: 'b7ad6b7169203331', traceFlags, isRemote: true });
const isKept = (sampler: Sampler, from: Context): boolean =>
  new EdgeSampler(sampler).shouldSample(from, KEPT_ID, 'GET', SpanKind.SERVER, {}, []).decision ===
  SamplingDecision.RECORD_AND_SAMPLED;

describe('the sampler of a service that strangers reach', () => {
  // Of the ids that there are it keeps none but KEPT_ID and a few beside it.
  const few = new TraceIdRatioBasedSampler(1e-9);

  it('keeps no request for its flag', () => {
    expect(isKept(new ParentBasedSampler({ root: few }), ofStranger(parent(1)))).toBe(false);
    expect(isKept(new ParentBasedSampler({ root: new AlwaysOffSampler() }), ofStranger(parent(1)))).toBe(false);
  });

  it('keeps no request for its trace id', () => {
    expect([isKept(few, parent(0)), isKept(few, ofStranger(parent(0)))]).toEqual([true, false]);
  });

  it('keeps the share that it has to keep, whatever the flag', () => {
    const all = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(1) });
    expect([isKept(all, ofStranger(parent(0))), isKept(all, ofStranger(parent(1)))]).toEqual([true, true]);
  });

  it('follows the flag of our other services', () => {
    const parentBased = new ParentBasedSampler({ root: few });
    expect([isKept(parentBased, parent(0)), isKept(parentBased, parent(1))]).toEqual([false, true]);
  });
});
