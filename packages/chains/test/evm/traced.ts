import type { Hex } from 'viem';

/** A call as anvil's callTracer shows it. */
export interface Frame {
  readonly type: string;
  readonly from: Hex;
  readonly to?: Hex;
  readonly input: Hex;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

/** The calls of a transaction that a failure has not undone, in their order. */
export function callsIn(frame: Frame): readonly Frame[] {
  return frame.error === undefined ? [frame, ...(frame.calls ?? []).flatMap(callsIn)] : [];
}
