import {
  depositIdOf,
  encodeInput,
  encodeObservation,
  type ObservationAuthor,
  observationKey,
  type ObservationMessage,
  partitionOf,
} from '@pf/contracts';
import type { ChainId, PaymentIntent } from '@pf/domain';
import { about, deposits, samples, watcher } from '@pf/domain/testing';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { isOfDeposit, type Message } from '../src/input.ts';
import { ObservationAuthors } from '../src/observation-authors.ts';
import type { DecidedBatch } from '../src/batch-decider.ts';
import { decideBatch, NOW, PartitionModel, raw, typesOf } from './batches.ts';
import { create, observed, PARTITIONS, TRACE } from './messages.ts';

const BASE = samples.BASE_SEPOLIA;
const SOLANA = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' as ChainId;
const SECRET = Buffer.from('a secret that only the writer has');
const FORMER = Buffer.from('the secret that it had until then');
const keyOf = (author: ObservationAuthor, secret = SECRET): Buffer => observationKey(secret, author);

const PAID = ['intent.pending', 'intent.confirmed'];

type Written = Extract<Message, { kind: 'observation' | 'deposit' }>;
/** The record of whoever has this key. */
const recordOf = (message: Written, key: Uint8Array | null) =>
  raw(encodeObservation(message, key), {
    topic: 'chain.observations',
    partition: partitionOf(isOfDeposit(message) ? message.depositId : message.intentId),
  });

describe('the author of an observation', () => {
  /** On Base. */
  let intent: PaymentIntent;
  beforeEach(() => {
    const model = new PartitionModel();
    const command = create();
    model.process([command], NOW);
    intent = model.intent(command.intentId);
  });

  const landed = (chain?: ChainId): ObservationMessage => ({
    ...observed(about(intent.id, watcher.landed(samples.FIRST))),
    ...(chain !== undefined && { chain }),
  });
  const decide = (
    message: Written,
    key: Uint8Array | null,
    authors = new ObservationAuthors([SECRET, FORMER], false),
  ): DecidedBatch => decideBatch([recordOf(message, key)], { known: { intents: [intent] }, authors });
  const reasonsOf = ({ dead }: DecidedBatch): readonly string[] => dead.map(({ letter }) => letter.reason);

  it('is believed where it is the watcher of the network of the intent', () => {
    const batch = decide(landed(BASE), keyOf(BASE));
    expect(reasonsOf(batch)).toEqual([]);
    expect(typesOf(batch)).toEqual(PAID);
  });

  it('is believed with the key of any of the secrets', () => {
    expect(typesOf(decide(landed(BASE), keyOf(BASE, FORMER)))).toEqual(PAID);
  });

  it.each([
    ['is the watcher of another network', SOLANA, keyOf(SOLANA), /the intent is on eip155:84532, and .* of solana:/],
    [
      'names the network of the intent without its key',
      BASE,
      keyOf(SOLANA),
      /not signed by the watcher of eip155:84532/,
    ],
    ['is the intent service, which observes no chain', BASE, keyOf('intent'), /not signed by the watcher of eip155/],
    ['has a key of another secret', BASE, keyOf(BASE, Buffer.from('of another installation')), /not signed by the w/],
    ['does not sign', BASE, null, /it is not signed: .*OBSERVATION_KEYS/],
    ['signs and names no network', undefined, keyOf(BASE), /it names no network/],
  ])('is refused where it %s', (_what, chain, key, reason) => {
    const batch = decide(landed(chain), key);
    expect(reasonsOf(batch)).toEqual([expect.stringMatching(reason)]);
    expect(batch.records).toEqual([]);
    expect(batch.dead).toMatchObject([{ letter: { intentId: intent.id, payload: expect.any(String) } }]);
  });

  it('cannot be exchanged in what another has signed', () => {
    const record = recordOf(landed(SOLANA), keyOf(SOLANA));
    const value = (record.value ?? '').replace(SOLANA, BASE);
    const authors = new ObservationAuthors([SECRET], false);
    const batch = decideBatch([{ ...record, value }], { known: { intents: [intent] }, authors });
    expect(reasonsOf(batch)).toEqual([expect.stringMatching(/not signed by the watcher of eip155:84532/)]);
  });

  it('decides on nothing else: what follows in the batch is decided', () => {
    const records = [recordOf(landed(SOLANA), keyOf(SOLANA)), recordOf(landed(BASE), keyOf(BASE))];
    const authors = new ObservationAuthors([SECRET], false);
    const batch = decideBatch(records, { known: { intents: [intent] }, authors });
    expect([batch.dead.length, typesOf(batch)]).toEqual([1, PAID]);
  });

  it('is the intent service alone where an intent is told of a deposit', () => {
    const { block, index, from, to, amount } = deposits.arrival();
    const transferred = { tokenAddress: samples.USDC, from: from ?? samples.BOB, to, amount, block, index };
    const told: ObservationMessage = {
      kind: 'observation',
      type: 'assigned',
      intentId: intent.id,
      data: {
        hash: samples.FIRST,
        depositId: deposits.DEPOSIT,
        version: 1,
        standing: 'confirmed',
        transfer: { ...transferred, blockHash: null },
      },
      trace: TRACE,
    };
    expect(reasonsOf(decide(told, keyOf('intent')))).toEqual([]);
    expect(reasonsOf(decide({ ...told, chain: BASE }, keyOf(BASE)))).toEqual([
      'it is not signed by the intent service: compare OBSERVATION_SECRET of the intent services',
    ]);
  });

  describe('of a deposit', () => {
    const id = depositIdOf(samples.ACCOUNT, BASE, deposits.arrival(), PARTITIONS);
    const seen = (chain: ChainId): Written => ({ ...deposits.depositLanded({}, id), chain, trace: TRACE });
    const lost = (chain: ChainId): Written => ({
      ...deposits.depositLost(deposits.arrival(), id),
      chain,
      trace: TRACE,
    });

    it('is believed where it is the watcher of its network', () => {
      expect(decide(seen(BASE), keyOf(BASE)).deposits).toHaveLength(1);
    });

    it('is refused where the transfer of its network has another id', () => {
      const taken = { ...deposits.depositLanded({ chain: SOLANA }, id), chain: SOLANA, trace: TRACE };
      const batch = decide(taken, keyOf(SOLANA));
      expect([batch.records, reasonsOf(batch)]).toEqual([
        [],
        [`${id} is not the deposit of this transfer on ${SOLANA}`],
      ]);
    });

    it('is refused where it is the watcher of another one', () => {
      const first = decide(seen(SOLANA), keyOf(SOLANA));
      expect([first.records, reasonsOf(first)]).toEqual([
        [],
        [expect.stringMatching(/the deposit is on eip155:84532/)],
      ]);
      const known = decide(seen(BASE), keyOf(BASE)).deposits.map(({ deposit }) => deposit);
      const authors = new ObservationAuthors([SECRET], false);
      const later = decideBatch([recordOf(lost(SOLANA), keyOf(SOLANA))], { known: { deposits: known }, authors });
      expect([later.records, reasonsOf(later)]).toEqual([
        [],
        [expect.stringMatching(/the deposit is on eip155:84532/)],
      ]);
    });
  });

  describe('while those of an earlier version still write', () => {
    const authors = new ObservationAuthors([SECRET], true);

    it('is believed without a signature', () => {
      expect(typesOf(decide(landed(), null, authors))).toEqual(PAID);
    });

    it('is compared with the network of the intent where it names one', () => {
      expect(reasonsOf(decide(landed(SOLANA), null, authors))).toEqual([expect.stringMatching(/the intent is on/)]);
    });

    it('is refused with a wrong signature', () => {
      expect(decide(landed(BASE), keyOf(SOLANA), authors).records).toEqual([]);
    });
  });

  it('is not asked for a command, which the gateways write', () => {
    const authors = new ObservationAuthors([SECRET], false);
    const command = create();
    const batch = decideBatch([raw(encodeInput(command), { partition: partitionOf(command.intentId) })], { authors });
    expect(typesOf(batch)).toEqual(['intent.created']);
  });
});
