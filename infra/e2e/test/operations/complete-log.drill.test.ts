import { describe, it } from '@jest/globals';
import { RESTORE_MS, restoresAfter } from './restoring.ts';

describe('the runbook of a Kafka that is behind', () => {
  it(
    'adds what the archive has, sends no webhook a second time and keeps revoked keys revoked',
    () => restoresAfter('kafka-earlier'),
    RESTORE_MS,
  );
});
