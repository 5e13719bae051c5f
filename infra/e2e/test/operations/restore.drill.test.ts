import { describe, it } from '@jest/globals';
import { RESTORE_MS, restoresAfter } from './restoring.ts';

describe('the runbook of a lost Kafka', () => {
  it.each(['kafka-lost', 'both-lost'] as const)(
    'restores all that is archived, sends no webhook a second time and keeps revoked keys revoked: %s',
    restoresAfter,
    RESTORE_MS,
  );
});
