import { depositIdOf, type DepositEnvelope, encodeDepositEvent, eventIdOf, parseDepositId } from '@pf/contracts';
import {
  decideDeposit,
  type Deposit,
  type DepositId,
  type DepositObservation,
  depositView,
  type TransactionHash,
} from '@pf/domain';
import { deposits, samples } from '@pf/domain/testing';
import { foldDeposits, type ProjectionBatch, type ReadEvents } from '../../src/index.ts';

const NOW = samples.SCENARIO_START;

/** A deposit of this partition. */
export function newDeposit(partition: number): { readonly id: DepositId; readonly hash: TransactionHash } {
  for (let number = 1; ; number++) {
    const hash = `0x${number.toString(16).padStart(64, '0')}` as TransactionHash;
    const id = depositIdOf(samples.ACCOUNT, samples.BASE_SEPOLIA, deposits.arrival({ hash }), 256);
    if (parseDepositId(id, 256)?.partition === partition) return { id, hash };
  }
}

/** One partition of intent.events in memory that has only deposits, and the batches that project it. */
export class DepositLog {
  readonly envelopes: DepositEnvelope[] = [];
  readonly #partition: number;
  readonly #deposits = new Map<DepositId, Deposit>();

  constructor(partition: number) {
    this.#partition = partition;
  }

  /** Decides the observations, and appends their events. Returns the batch that projects them. */
  append(from: bigint, next: bigint, ...observations: readonly DepositObservation[]): ProjectionBatch {
    const stored = [...this.#deposits.values()];
    const envelopes = observations.map((observation) => this.#decide(observation));
    this.envelopes.push(...envelopes);
    const folded = foldDeposits(stored, envelopes);
    return { partition: this.#partition, from, next, ...folded, lastAt: NOW, intents: [], outcomes: [] };
  }

  readonly read: ReadEvents = async function* (this: DepositLog, from: bigint, end: bigint) {
    const records = this.envelopes
      .slice(Number(from), Number(end))
      .map((envelope, index) => ({ offset: from + BigInt(index), value: encodeDepositEvent(envelope) }));
    yield { records, next: end };
  }.bind(this);

  readonly end = (): Promise<bigint> => Promise.resolve(BigInt(this.envelopes.length));

  #decide(observation: DepositObservation): DepositEnvelope {
    const { depositId } = observation;
    const decided = decideDeposit(observation, NOW, this.#deposits.get(depositId));
    if (decided === null) throw new Error(`${observation.type} of ${depositId} changes nothing`);
    const { event, deposit } = decided;
    this.#deposits.set(depositId, deposit);
    const { accountId, livemode } = deposit;
    return {
      eventId: eventIdOf(depositId, event.version),
      type: event.type,
      schemaVersion: 1,
      depositId,
      version: event.version,
      accountId,
      livemode,
      commandId: null,
      at: new Date(NOW).toISOString(),
      trace: { traceparent: null, requestId: null },
      data: event.data,
      deposit: depositView(deposit),
    };
  }
}
