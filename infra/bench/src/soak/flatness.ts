import { median } from '../percentiles.ts';

/** A figure in the second third of a run, and in the last. */
export interface Window {
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
}

/**
 * How a figure has grown from the second third of a run to the last: medians, so that a collection of garbage at the
 * end of a window decides nothing. The first third is left out: heaps and caches fill.
 * @param perMinute one value a minute, at least three
 */
export function growthOf(perMinute: readonly number[]): Window {
  const third = Math.floor(perMinute.length / 3);
  const before = median(perMinute.slice(-2 * third, -third));
  const after = median(perMinute.slice(-third));
  return { before, after, ratio: after / before };
}
