import type { Reference } from '@pf/domain';

/** Stands for the reference of a payment for which nothing proves one: no intent has it, so that none is settled. */
export const NO_REFERENCE = `0x${'00'.repeat(32)}` as Reference;
