/** The 99th percentile. @returns 0 of nothing */
export const p99 = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? 0;

/** Half of the values are no greater. @returns 0 of nothing */
export const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
