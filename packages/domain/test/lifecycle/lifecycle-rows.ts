import { COMMAND_ROWS } from './lifecycle-table.ts';
import type { Row } from './lifecycle-table.ts';
import { OBSERVATION_ROWS } from './observation-rows.ts';
import { SIMULATE_ROW } from './simulate-row.ts';

/** The rows of lifecycle.md's table by the names it gives them, in its order. */
export const ROW_NAMES = [
  'create',
  'update',
  'detect',
  'record_build',
  'prepare_submission',
  'record_broadcast',
  'release_submission',
  'cancel',
  'refund',
  'simulate',
  'expire',
  'landed, right terms',
  '… finalized level',
  'landed, other terms',
  'reverted, of the live submission',
  'dropped, of the live submission',
  'lost, of the settling transaction',
] as const;

export const ROWS: readonly Row[] = [...COMMAND_ROWS, SIMULATE_ROW, ...OBSERVATION_ROWS];
