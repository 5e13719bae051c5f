import { COMMAND_ROWS } from './lifecycle-table.ts';
import type { Row } from './lifecycle-table.ts';
import { OBSERVATION_ROWS } from './observation-rows.ts';
import { SIMULATE_ROW } from './simulate-row.ts';

/** The rows that the lifecycle must have, in the order of docs/reference/lifecycle.md. */
export const ROW_NAMES = [
  'create',
  'update',
  'detect',
  'record_build',
  'prepare_submission',
  'record_broadcast',
  'release_submission',
  'report_transfer',
  'cancel',
  'refund',
  'simulate',
  'expire',
  'erase',
  'landed, matching the terms',
  'landed, matching the terms, finalized',
  'landed, differing from the terms',
  'disproved: it carries the reference of another intent',
  'reverted',
  'dropped',
  'lost',
] as const;

export const ROWS: readonly Row[] = [...COMMAND_ROWS, SIMULATE_ROW, ...OBSERVATION_ROWS];
