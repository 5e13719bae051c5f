import { type LogAppender, LogUnavailableError, type NewRecord } from './port.ts';
import { FetchingReader } from './reading/reader.ts';
import type { LogTransport } from './transport.ts';

/** Takes the partition from its owner, whose transactions fail from then on, and appends as it does. */
export async function openAppender(transport: LogTransport, partition: number): Promise<LogAppender> {
  const reader = new FetchingReader(transport, 'appender');
  const writer = await transport.openWriter(partition);
  let end: bigint;
  try {
    end = await reader.endOffset('intent.events', partition);
    if (!(await writer.endsAt(end)))
      throw new LogUnavailableError(
        `Partition ${partition} of intent.events does not end at ${end}: it is written to.`,
      );
  } catch (error) {
    await writer.close();
    throw error;
  } finally {
    await reader.close();
  }
  return {
    async append(records: readonly Omit<NewRecord, 'partition'>[]): Promise<void> {
      await writer.commit(
        records.map((record) => ({ ...record, partition })),
        null,
        end,
      );
      // The marker of the transaction takes an offset, too.
      end += BigInt(records.length) + 1n;
    },
    close: () => writer.close(),
  };
}
