export { patchGlobals } from './globals.ts';
export { type CallOptions, Kernel } from './kernel.ts';
export { Network } from './network.ts';
export { type Clock, currentProcess, SimulatedProcess } from './process.ts';
export { Random } from './random.ts';
export { simulate } from './simulate.ts';
export type { TraceLine } from './trace.ts';
