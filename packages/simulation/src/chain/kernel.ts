import type { Kernel } from '../kernel/index.ts';

/** What simulated chains need of the kernel. */
export type ChainKernel = Pick<Kernel, 'random' | 'now' | 'call' | 'sleep'>;
