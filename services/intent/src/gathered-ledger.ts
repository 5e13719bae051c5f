import type { Checkpoint, Found, LedgerStore, ProjectionBatch, Wanted } from '@pf/database';
import { Gathering } from '@pf/runtime';

/**
 * The ledger with one statement for the batches of several partitions. If one that failed had been written all the
 * same, because only its response was lost, the checkpoint has moved, and the partition is caught up from the log.
 */
export function gatheredLedger(
  ledger: Pick<LedgerStore, 'checkpointAll' | 'lookUpAll' | 'projectAll'>,
): Pick<LedgerStore, 'checkpoint' | 'lookUp' | 'project'> {
  const checkpoints = new Gathering<{ readonly partition: number }, Checkpoint>((all) =>
    ledger.checkpointAll(all.map(({ partition }) => partition)),
  );
  const lookUps = new Gathering<Wanted, Found>((wanted) => ledger.lookUpAll(wanted));
  const projections = new Gathering<ProjectionBatch, boolean>(async (batches) => {
    const written = await ledger.projectAll(batches);
    return batches.map(({ partition }) => written.has(partition));
  });
  return {
    checkpoint: (partition) => checkpoints.add({ partition }),
    lookUp: (wanted) => lookUps.add(wanted),
    project: (batch) => projections.add(batch),
  };
}
