import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { registerGauge } from './recording.ts';

/** Of the histogram of delays: finer costs more than it tells. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/** Has the process' own use of memory, CPU and event loop looked up. @returns each ends one of them */
export function registerProcessGauges(): (() => void)[] {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let before = performance.eventLoopUtilization();
  return [
    () => delay.disable(),
    registerGauge('process.memory.usage', () => [[process.memoryUsage.rss(), {}]]),
    registerGauge('process.cpu.time', () => {
      const { user, system } = process.cpuUsage();
      return [
        [user / MICROSECONDS, { 'cpu.mode': 'user' }],
        [system / MICROSECONDS, { 'cpu.mode': 'system' }],
      ];
    }),
    registerGauge('nodejs.eventloop.delay.p99', () => {
      // What is above the resolution is late. Nothing was measured yet: 0, where the histogram says NaN.
      const late = Math.max(0, (delay.percentile(99) || 0) / NANOSECONDS - RESOLUTION_MS / 1_000);
      delay.reset();
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
