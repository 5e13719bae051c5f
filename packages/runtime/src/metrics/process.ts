import { totalmem } from 'node:os';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { countBlocks } from './blocks.ts';
import { firstExpiry } from './certificates.ts';
import { registerGauge } from './recording.ts';

/** Of the histogram of delays: a finer one costs more than it shows. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/**
 * By how many seconds a timer was late: those above the resolution are. Before the first measurement the histogram says
 * NaN, or a maximum of 0.
 */
const lateBy = (nanoseconds: number): number => Math.max(0, (nanoseconds || 0) / NANOSECONDS - RESOLUTION_MS / 1_000);

/** Registers the gauges of the process's memory, CPU and event loop. @returns functions that end them */
export function registerProcessGauges(): (() => void)[] {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // Until it is read: the histogram is reset with its percentile.
  let longest = 0;
  let before = performance.eventLoopUtilization();
  const expiry = firstExpiry();
  // Of the control group: 0 where it is unknown, and beyond the machine's memory where there is none.
  const limit = process.constrainedMemory();
  const isLimited = limit > 0 && limit < totalmem();
  return [
    () => delay.disable(),
    countBlocks(),
    registerGauge('process.memory.usage', () => [[process.memoryUsage.rss(), {}]]),
    registerGauge('process.memory.limit', () => (isLimited ? [[limit, {}]] : [])),
    registerGauge('payments.certificate.valid', () => (expiry === null ? [] : [[(expiry - Date.now()) / 1_000, {}]])),
    registerGauge('process.cpu.time', () => {
      const { user, system } = process.cpuUsage();
      return [
        [user / MICROSECONDS, { 'cpu.mode': 'user' }],
        [system / MICROSECONDS, { 'cpu.mode': 'system' }],
      ];
    }),
    registerGauge('nodejs.eventloop.delay.p99', () => {
      const late = lateBy(delay.percentile(99));
      longest = Math.max(longest, lateBy(delay.max));
      delay.reset();
      return [[late, {}]];
    }),
    registerGauge('nodejs.eventloop.delay.max', () => {
      const late = longest;
      longest = 0;
      return [[late, {}]];
    }),
    registerGauge('nodejs.eventloop.utilization', () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return [[utilization, {}]];
    }),
  ];
}
