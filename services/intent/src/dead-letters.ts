import { encodeDeadLetter } from '@pf/contracts';
import type { Publisher } from '@pf/event-log';
import { count, fieldsOf, type Logger } from '@pf/runtime';
import type { DeadLettered } from './batch-decider.ts';

const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Publishes letters to intent.dead and logs them. Called before the offsets of their messages are committed, so a
 * letter may be there twice and is never missing.
 * @throws LogUnavailableError when the broker may not have them.
 */
export async function sendDeadLetters(
  publisher: Publisher,
  letters: readonly DeadLettered[],
  log: Logger,
): Promise<void> {
  if (letters.length === 0) return;
  const deadline = AbortSignal.timeout(PUBLISH_TIMEOUT_MS);
  await Promise.all(
    letters.map(async ({ letter, cause }) => {
      const { payload: _payload, ...logged } = letter;
      await publisher.publish(
        'intent.dead',
        {
          partition: letter.partition,
          key: letter.intentId ?? `${letter.topic}/${letter.offset}`,
          value: encodeDeadLetter(letter),
        },
        deadline,
      );
      count('payments.dead_letters', { 'messaging.destination.name': letter.topic });
      log.error(
        { ...logged, ...(letter.trace && fieldsOf(letter.trace)), ...(cause instanceof Error && { err: cause }) },
        'a message was moved to the dead letters',
      );
    }),
  );
}
