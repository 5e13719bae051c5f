/**
 * Requests about transactions that the client library lacks (KIP-664, and KIP-98 for the markers). All are "flexible":
 * compact strings and arrays, and tagged fields at the end of each structure. The first tagged fields of a request, and
 * of a response, belong to its header.
 */
// @ts-expect-error -- the library does not type its parts
import KafkaDecoder from 'kafkajs/src/protocol/decoder.js';
// @ts-expect-error -- the library does not type its parts
import KafkaEncoder from 'kafkajs/src/protocol/encoder.js';
// @ts-expect-error -- the library does not type its parts
import kafkaErrors from 'kafkajs/src/protocol/error.js';

interface Encoder {
  writeBoolean(value: boolean): this;
  writeInt16(value: number): this;
  writeInt32(value: number): this;
  writeInt64(value: string): this;
  writeUVarIntString(value: string): this;
  writeUVarIntArray(items: readonly Encoder[]): this;
  /** Without a value: no tagged fields. */
  writeUVarIntBytes(): this;
}

interface Decoder {
  readInt16(): number;
  readInt32(): number;
  readInt64(): { toString(): string };
  readUVarIntString(): string | null;
  readUVarIntArray<Item>(read: (decoder: Decoder) => Item): Item[] | null;
  readTaggedFields(): unknown;
}

interface Decoded<Response> {
  readonly content: Response;
  readonly clientSideThrottleTime: 0;
}

/** What a connection of the library sends. */
export interface LibraryRequest<Response> {
  readonly request: {
    readonly apiKey: number;
    readonly apiVersion: number;
    readonly apiName: string;
    readonly encode: () => Promise<Encoder>;
  };
  readonly response: {
    /** The library reads from it how long the broker wants it to wait. */
    readonly decode: (bytes: Buffer) => Promise<Decoded<Response>>;
    readonly parse: (decoded: Decoded<Response>) => Promise<Response>;
  };
}

const LibraryEncoder = KafkaEncoder as new () => Encoder;
const LibraryDecoder = KafkaDecoder as new (bytes: Buffer) => Decoder;
const { createErrorFromCode } = kafkaErrors as { createErrorFromCode: (code: number) => Error };

/** In the library's table of errors this one is missing. */
const TRANSACTIONAL_ID_NOT_FOUND = 105;

function request<Response>(
  name: string,
  apiKey: number,
  apiVersion: number,
  write: (encoder: Encoder) => Encoder,
  read: (decoder: Decoder) => Response,
): LibraryRequest<Response> {
  return {
    request: {
      apiKey,
      apiVersion,
      apiName: name,
      encode: async () => write(new LibraryEncoder().writeUVarIntBytes()).writeUVarIntBytes(),
    },
    response: {
      decode: async (bytes) => {
        const decoder = new LibraryDecoder(bytes);
        decoder.readTaggedFields();
        return { content: read(decoder), clientSideThrottleTime: 0 };
      },
      parse: async ({ content }) => content,
    },
  };
}

const structure = (write: (encoder: Encoder) => Encoder): Encoder => write(new LibraryEncoder()).writeUVarIntBytes();

function list<Item>(decoder: Decoder, read: (decoder: Decoder) => Item): Item[] {
  const items = decoder.readUVarIntArray((item) => {
    const value = read(item);
    item.readTaggedFields();
    return value;
  });
  return items ?? [];
}

const numbers = (decoder: Decoder): number[] => decoder.readUVarIntArray((item) => item.readInt32()) ?? [];

function refuse(code: number): void {
  if (code !== 0) throw createErrorFromCode(code);
}

/** A transaction that has records in a partition and no marker there. */
export interface OpenTransaction {
  readonly producerId: string;
  readonly producerEpoch: number;
  /** The epoch of the coordinator that wrote the producer's last marker to the partition; −1: none has. */
  readonly coordinatorEpoch: number;
  /** The offset of its first record. */
  readonly start: bigint;
}

/** DescribeProducers v0, to the partition's leader. Needs READ on the topic. */
export const describeProducers = (topic: string, partition: number): LibraryRequest<readonly OpenTransaction[]> =>
  request<readonly OpenTransaction[]>(
    'DescribeProducers',
    61,
    0,
    (encoder) =>
      encoder.writeUVarIntArray([
        structure((item) =>
          item.writeUVarIntString(topic).writeUVarIntArray([new LibraryEncoder().writeInt32(partition)]),
        ),
      ]),
    (decoder) => {
      decoder.readInt32();
      const topics = list(decoder, (ofTopic) => {
        ofTopic.readUVarIntString();
        return list(ofTopic, (ofPartition) => {
          ofPartition.readInt32();
          refuse(ofPartition.readInt16());
          ofPartition.readUVarIntString();
          return list(ofPartition, (producer) => {
            const producerId = producer.readInt64().toString();
            const producerEpoch = producer.readInt32();
            producer.readInt32();
            producer.readInt64();
            const coordinatorEpoch = producer.readInt32();
            return { producerId, producerEpoch, coordinatorEpoch, start: BigInt(producer.readInt64().toString()) };
          });
        });
      });
      return topics.flat(2).filter(({ start }) => start >= 0n);
    },
  );

/** What its coordinator knows of a transactional id. */
export interface TransactionState {
  /** `Empty`, `Ongoing`, `PrepareCommit`, `CompleteCommit`, `PrepareAbort`, `CompleteAbort`, … */
  readonly state: string;
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** DescribeTransactions v0, to the coordinator; null where it does not know the id. Needs DESCRIBE on the id. */
export const describeTransaction = (transactionalId: string): LibraryRequest<TransactionState | null> =>
  request(
    'DescribeTransactions',
    65,
    0,
    (encoder) => encoder.writeUVarIntArray([new LibraryEncoder().writeUVarIntString(transactionalId)]),
    (decoder) => {
      decoder.readInt32();
      const [found] = list(decoder, (transaction) => {
        const code = transaction.readInt16();
        transaction.readUVarIntString();
        const state = transaction.readUVarIntString() ?? '';
        transaction.readInt32();
        transaction.readInt64();
        const producerId = transaction.readInt64().toString();
        const producerEpoch = transaction.readInt16();
        list(transaction, (ofTopic) => [ofTopic.readUVarIntString(), numbers(ofTopic)]);
        if (code === TRANSACTIONAL_ID_NOT_FOUND) return null;
        refuse(code);
        return { state, producerId, producerEpoch };
      });
      return found ?? null;
    },
  );

export interface ListedTransaction {
  readonly transactionalId: string;
  readonly state: string;
}

/** ListTransactions v0, to every broker: the transactional ids that it coordinates, of one producer or of all. */
export const listTransactions = (producerId: string | null): LibraryRequest<readonly ListedTransaction[]> =>
  request<readonly ListedTransaction[]>(
    'ListTransactions',
    66,
    0,
    (encoder) =>
      encoder
        .writeUVarIntArray([])
        .writeUVarIntArray(producerId === null ? [] : [new LibraryEncoder().writeInt64(producerId)]),
    (decoder) => {
      decoder.readInt32();
      refuse(decoder.readInt16());
      decoder.readUVarIntArray((filter) => filter.readUVarIntString());
      return list(decoder, (transaction) => {
        const transactionalId = transaction.readUVarIntString() ?? '';
        transaction.readInt64();
        return { transactionalId, state: transaction.readUVarIntString() ?? '' };
      });
    },
  );

/** A transaction that has an offset of the partition is open, or hangs. */
const UNSTABLE_OFFSET_COMMIT = 88;

/**
 * OffsetFetch v7, to the group's coordinator: the committed offset, −1 where there is none, and its note. With
 * `stable`, null while a transaction may change it (KIP-447).
 */
export const fetchOffset = (
  group: string,
  topic: string,
  partition: number,
  stable: boolean,
): LibraryRequest<{ readonly offset: bigint; readonly note: string } | null> =>
  request<{ readonly offset: bigint; readonly note: string } | null>(
    'OffsetFetch',
    9,
    7,
    (encoder) =>
      encoder
        .writeUVarIntString(group)
        .writeUVarIntArray([
          structure((item) =>
            item.writeUVarIntString(topic).writeUVarIntArray([new LibraryEncoder().writeInt32(partition)]),
          ),
        ])
        .writeBoolean(stable),
    (decoder) => {
      decoder.readInt32();
      const [found] = list(decoder, (ofTopic) => {
        ofTopic.readUVarIntString();
        return list(ofTopic, (ofPartition) => {
          ofPartition.readInt32();
          const offset = BigInt(ofPartition.readInt64().toString());
          ofPartition.readInt32();
          const note = ofPartition.readUVarIntString() ?? '';
          return { offset, note, code: ofPartition.readInt16() };
        });
      }).flat();
      refuse(decoder.readInt16());
      if (!found) throw new Error(`${topic} has no partition ${partition}`);
      if (found.code === UNSTABLE_OFFSET_COMMIT) return null;
      refuse(found.code);
      return found;
    },
  );

/** WriteTxnMarkers v1, to the partition's leader. Needs CLUSTER_ACTION (or ALTER) on the cluster. */
export const writeMarker = (
  topic: string,
  partition: number,
  { producerId, producerEpoch, coordinatorEpoch }: OpenTransaction,
  committed: boolean,
): LibraryRequest<void> =>
  request(
    'WriteTxnMarkers',
    27,
    1,
    (encoder) =>
      encoder.writeUVarIntArray([
        structure((marker) =>
          marker
            .writeInt64(producerId)
            .writeInt16(producerEpoch)
            .writeBoolean(committed)
            .writeUVarIntArray([
              structure((item) =>
                item.writeUVarIntString(topic).writeUVarIntArray([new LibraryEncoder().writeInt32(partition)]),
              ),
            ])
            .writeInt32(Math.max(0, coordinatorEpoch)),
        ),
      ]),
    (decoder) => {
      list(decoder, (marker) => {
        marker.readInt64();
        list(marker, (ofTopic) => {
          ofTopic.readUVarIntString();
          list(ofTopic, (ofPartition) => {
            ofPartition.readInt32();
            refuse(ofPartition.readInt16());
          });
        });
      });
    },
  );
