import { within } from '@pf/runtime';
import type { RedisConnection } from './connection.ts';

/** True if Redis responds to a PING in time. Never rejects. */
export async function isResponsive(connection: RedisConnection, timeoutMs: number): Promise<boolean> {
  const responded = connection.ping().then(
    () => true,
    () => false,
  );
  return (await within(timeoutMs, responded)) ?? false;
}
