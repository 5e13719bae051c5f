import { until, type WebhookReceiver } from '@pf/testing';

/** Resolves when a webhook of each of the intents has come. */
export async function webhooksOf(receiver: WebhookReceiver, ids: readonly string[]): Promise<void> {
  await until(
    'the webhooks',
    () => {
      const intents = new Set<string>(receiver.received.map(({ body }) => body.data.intent.id));
      return ids.every((id) => intents.has(id));
    },
    60_000,
  );
}
