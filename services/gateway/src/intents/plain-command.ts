import { emptyRequest, type Operation, OPERATIONS } from '@pf/contracts';
import type { IntentQueries } from '@pf/database';
import { readBody } from '@pf/http';
import { isPayer } from '../api-keys.ts';
import type { Commands } from '../commands.ts';
import type { Endpoint } from '../endpoint.ts';
import { intentAfter, pathId } from './lookup.ts';

interface Dependencies {
  readonly commands: Commands;
  readonly intents: IntentQueries;
  readonly partitions: number;
}

/** An endpoint that sends a command without data and returns the intent after it. */
const plainCommand =
  (operation: Operation, type: 'cancel' | 'detect') =>
  ({ commands, intents, partitions }: Dependencies): Endpoint => ({
    operation,
    async handle({ holder, request, response }) {
      const intentId = pathId(request, partitions);
      await readBody(request, response, emptyRequest);
      const accepted = await commands.require({
        type,
        intentId,
        accountId: holder.accountId,
        livemode: holder.livemode,
        data: {},
        byPayer: isPayer(holder),
      });
      return { status: 200, body: { intent: await intentAfter(intents, accepted, holder) } };
    },
  });

/** POST /intents/{id}/cancel. */
export const cancelIntent = plainCommand(OPERATIONS.cancelIntent, 'cancel');
/** POST /intents/{id}/detected. */
export const detectIntent = plainCommand(OPERATIONS.detectIntent, 'detect');
