import { describe, it } from '@jest/globals';
import { RESTORE_MS, restoresAfter } from './restoring.ts';

describe('the runbook of a Kafka that is behind', () => {
  it.each(['kafka-earlier', 'mirrored'] as const)(
    'adds what the archive has, sends no webhook a second time and keeps revoked keys revoked: %s',
    restoresAfter,
    RESTORE_MS,
  );
});
