import { randomBytes } from 'node:crypto';
import { type Context, createContextKey, ROOT_CONTEXT } from '@opentelemetry/api';
import type { Sampler, SamplingResult } from '@opentelemetry/sdk-trace';

const STRANGER = createContextKey('stranger');
const TRACE_ID_BYTES = 16;

/** The context of a span whose parent is a stranger's. Not for its children: their parent is ours. */
export const ofStranger = (from: Context): Context => from.setValue(STRANGER, true);

/**
 * Decides about what a stranger asks for as if a trace began there, and by an id of our own: the sampled flag and the
 * trace id are as the stranger likes, and would have all of their requests kept. About all else the sampler within
 * decides.
 */
export class EdgeSampler implements Sampler {
  readonly #within: Sampler;

  constructor(within: Sampler) {
    this.#within = within;
  }

  shouldSample(...[from, traceId, ...span]: Parameters<Sampler['shouldSample']>): SamplingResult {
    return from.getValue(STRANGER) === true
      ? this.#within.shouldSample(ROOT_CONTEXT, randomBytes(TRACE_ID_BYTES).toString('hex'), ...span)
      : this.#within.shouldSample(from, traceId, ...span);
  }

  toString(): string {
    return `Edge{${this.#within.toString()}}`;
  }
}
