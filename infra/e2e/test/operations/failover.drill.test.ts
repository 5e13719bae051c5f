import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { laggingPromotion, promotion, type Rig, runChaos, startRig } from '@pf/bench/chaos';
import { readBackingStack } from '@pf/testing';

/** `npm run chaos` strikes with every fault, for as long as it is told. */
describe('the service under load whose Postgres fails over', () => {
  const seed = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  let rig: Rig;
  beforeAll(async () => {
    const { kafka, redis } = readBackingStack();
    rig = await startRig({ kafka, redis });
  });
  afterAll(() => rig.close(false));

  it(`loses, doubles and forks nothing, though the standby lags (CHAOS_SEED=${seed})`, async () => {
    const faults = [promotion, laggingPromotion, laggingPromotion];
    const lines: string[] = [];
    const report = await runChaos(rig, {
      seed,
      next: () => faults.shift() ?? null,
      say: (line) => void lines.push(line),
    });
    expect({ lines, findings: report.findings }).toEqual({ lines, findings: [] });
    expect(report.strikes.map(({ fault }) => fault)).toEqual(
      [promotion, laggingPromotion, laggingPromotion].map(({ name }) => name),
    );
    expect(report.paid).toBeGreaterThan(0);
  }, 600_000);
});
