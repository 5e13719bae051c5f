import { CLOCK_TOLERANCE_MS, type Instant } from '@pf/domain';

/** What both clocks of this process showed at one moment, in ms. */
export interface Moment {
  /** Since 1970; may be stepped at any time. */
  readonly wall: Instant;
  /** Since some moment; never steps, and goes on while the process is stopped. */
  readonly steady: number;
}

/** How far the wall clock is ahead of a reference, in ms: at least and at most. */
export interface Lead {
  readonly least: number;
  readonly most: number;
}

/** Both clocks are read in whole milliseconds, rounded down. */
const ROUNDING_MS = 1;

/**
 * The lead that follows from one reading. The reference read its clock at an unknown moment between the request and the
 * response, so the round trip is the width of the interval (as in NTP, where half of it is the uncertainty).
 * @param shown what the reference's clock showed
 */
export function leadOf(asked: Moment, answered: Moment, shown: Instant): Lead {
  // From one wall reading and the steady clock: a step of the wall clock in between would widen or empty the interval.
  const roundTrip = answered.steady - asked.steady;
  return {
    least: answered.wall - roundTrip - shown - ROUNDING_MS,
    most: answered.wall - shown + ROUNDING_MS,
  };
}

/** Both are true, so the lead is in both. Null where they contradict each other: a clock was stepped in between. */
export function narrowed(one: Lead, other: Lead): Lead | null {
  const least = Math.max(one.least, other.least);
  const most = Math.min(one.most, other.most);
  return least <= most ? { least, most } : null;
}

/** `unproven`: the interval reaches over the tolerance, because the reference took too long to respond. */
export function judge({ least, most }: Lead): 'right' | 'wrong' | 'unproven' {
  if (least > CLOCK_TOLERANCE_MS || most < -CLOCK_TOLERANCE_MS) return 'wrong';
  return least >= -CLOCK_TOLERANCE_MS && most <= CLOCK_TOLERANCE_MS ? 'right' : 'unproven';
}

/** The best single figure of an interval: its middle. */
export const middleOf = ({ least, most }: Lead): number => (least + most) / 2;
