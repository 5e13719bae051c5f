import { type ChainFamily, families, networkNamed, type NetworkName } from '@pf/chains/networks';
import type { StackChain } from '@pf/testing';
import { startAnvil, startSolana, startTempo } from '@pf/testing/chains';
import { benchPlan, openOn, type Row, warm } from './bench-plan.ts';
import { familiesOf, type PlanName } from './plans.ts';
import { HEADER, lineOf } from './report.ts';

/** A real local chain of each family, as fast as the networks. On Solana what is confirmed is final (Alpenglow). */
const NETWORKS: readonly {
  readonly name: NetworkName;
  readonly family: ChainFamily;
  readonly start: () => Promise<StackChain & { stop(): Promise<void> }>;
}[] = [
  { name: 'base-sepolia', family: 'base', start: () => startAnvil({ blockMs: families.base.blockMs }) },
  {
    name: 'solana-devnet',
    family: 'solana',
    start: () => startSolana({ slotMs: families.solana.blockMs, finalitySlots: 1 }),
  },
  { name: 'tempo-moderato', family: 'tempo', start: () => startTempo({ blockMs: families.tempo.blockMs }) },
];

const KB_PER_MB = 1_024;

/**
 * What watching so many recipients costs under each plan, and how soon payments are found: the observers of the
 * watcher, in this process, behind simulated providers before real local chains. The networks are measured at the same
 * time, the plans of each one after the other.
 */
export async function runPlans({
  recipients,
  profile: plans,
  seconds,
  json,
}: {
  readonly recipients: number;
  readonly profile: readonly PlanName[];
  readonly seconds: number;
  readonly json: boolean;
}): Promise<void> {
  if (!json)
    console.log(
      `\n${recipients} recipients per network, each with an open intent; ${seconds} s of quiet.\n\n${HEADER}`,
    );
  const rows = await Promise.all(
    NETWORKS.map(async ({ name, family, start }): Promise<readonly Row[]> => {
      const served = plans.filter((plan) => familiesOf(plan).includes(family));
      if (served.length === 0) return [];
      const chain = await start();
      try {
        const network = networkNamed(name);
        const benched = await warm(network, chain, openOn(chain, network, recipients));
        const measured: Row[] = [];
        for (const plan of served) {
          const row = await benchPlan(benched, plan, seconds);
          measured.push(row);
          // With --json only the whole of it goes to the output.
          (json ? console.error : console.log)(lineOf(row));
        }
        return measured;
      } finally {
        await chain.stop();
      }
    }),
  );
  const memoryMb = Math.round(process.resourceUsage().maxRSS / KB_PER_MB);
  if (json)
    console.log(
      JSON.stringify({ at: new Date().toISOString(), recipients, seconds, memoryMb, rows: rows.flat() }, null, 2),
    );
  else console.log(`\nMemory of this process, which watches all of them: ${memoryMb} MB at most.`);
}
