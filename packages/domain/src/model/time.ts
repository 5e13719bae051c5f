/**
 * How far the clock of a process may be from the clocks of Kafka and Postgres, in ms. Beyond it the process neither
 * decides nor broadcasts (packages/clock, docs/internals/time.md).
 */
export const CLOCK_TOLERANCE_MS = 2_000;
/**
 * How much further a clock within the tolerance may be before its process notices, in ms: a step of 200 ms, and the
 * drift since the last measurement, at most 30 s at 1000 ppm.
 */
export const CLOCK_SLIP_MS = 250;
