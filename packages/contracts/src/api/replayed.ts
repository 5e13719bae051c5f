import { z } from 'zod';

const term = z.union([z.string(), z.number(), z.null()]);

/**
 * What the response to a repeat says beside the object of the first request: what the repeat asked for otherwise, by
 * the path of each field, as errors name it (`metadata.order`). Without differences there is no `differs`.
 */
export const replayedResponse = {
  replayed: z.literal(true).meta({ description: 'An earlier request with this `idempotencyKey` made it.' }),
  differs: z
    .record(z.string(), z.strictObject({ existing: term, requested: term }))
    .meta({
      description:
        'What this request asks for otherwise than what exists, by the path of the field: `amount`, ' +
        '`metadata.order`. Absent where nothing differs.',
    })
    .exactOptional(),
};
/** By the path of the field. */
export type Differences = NonNullable<z.infer<z.ZodObject<typeof replayedResponse>>['differs']>;
