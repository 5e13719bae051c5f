import { z } from 'zod';
import { chain, must, word } from './api/fields.ts';
import { URL_LENGTH_MAX } from './endpoints.ts';

const HEADERS_MAX = 8;
const HEADER_LENGTH_MAX = 1_024;
/** RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
/** RFC 9110, section 5.5, without obsolete bytes and without spaces around it. */
const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** What the service or its connection says itself. */
const OWN_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const headersRule = must(
  `an object of at most ${HEADERS_MAX} HTTP headers: each value is printable ASCII of at most ${HEADER_LENGTH_MAX} ` +
    `characters, and no name is one of ${[...OWN_HEADERS].join(', ')}`,
);
const headers = z
  .record(z.string(), z.string(headersRule), headersRule)
  .refine((all) => {
    const names = Object.keys(all).map((name) => name.toLowerCase());
    return (
      names.length <= HEADERS_MAX &&
      new Set(names).size === names.length &&
      // As it is sent: the lower case of other letters may be ASCII.
      Object.keys(all).every((name) => HEADER_NAME.test(name)) &&
      names.every((name) => !OWN_HEADERS.has(name)) &&
      Object.values(all).every((value) => value.length <= HEADER_LENGTH_MAX && HEADER_VALUE.test(value))
    );
  }, headersRule)
  .meta({ maxProperties: HEADERS_MAX });

const CONTEXT_LENGTH_MAX = 2_048;
const contextRule = must(`an object of at most ${CONTEXT_LENGTH_MAX} characters as JSON`);
/** ERC-7677: what a paymaster service needs beside the operation, such as which of its policies pays. */
const context = z
  .record(z.string(), z.unknown(), contextRule)
  .refine((fields) => JSON.stringify(fields).length <= CONTEXT_LENGTH_MAX, contextRule)
  .meta({ example: { policyId: '4f1b2c3d-1111-4222-8333-444455556666' } });

/** PUT /sponsors/{chain}. */
export const setSponsorRequest = z.strictObject({
  url: word('a URL that starts with https:// (or http:// in test mode)', URL_LENGTH_MAX),
  headers: headers.optional(),
  context: context.optional(),
});

/** The path of what is about the sponsor of one chain. */
export const sponsorPath = z.object({
  chain: chain.meta({ description: 'The CAIP-2 chain id.', example: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }),
});

const PARAMS_MAX = 4;
/** POST /intents/{id}/paymaster: JSON-RPC as ERC-7677 has it. What the params are is for the chain to say. */
export const paymasterRequest = z.strictObject({
  jsonrpc: z.literal('2.0', must('"2.0"')),
  id: z.union([z.string().max(100), z.int()], must('a string or a whole number')),
  method: z.enum(
    ['pm_getPaymasterStubData', 'pm_getPaymasterData'],
    must('pm_getPaymasterStubData or pm_getPaymasterData'),
  ),
  params: z
    .array(z.unknown(), must('a list: the user operation, the EntryPoint, the chain id and the context'))
    .max(PARAMS_MAX, must('a list: the user operation, the EntryPoint, the chain id and the context')),
});
export type PaymasterRequest = z.infer<typeof paymasterRequest>;
export const paymasterResponse = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  result: z.record(z.string(), z.unknown()),
});

/** A sponsor in responses, without what may be a secret: of its URL the origin, of headers and context the names. */
export const sponsor = z.strictObject({
  chain: z.string(),
  origin: z.string(),
  headers: z.array(z.string()),
  context: z.array(z.string()),
  updatedAt: z.iso.datetime({ precision: 3 }),
  livemode: z.boolean(),
});
export type ShownSponsor = z.infer<typeof sponsor>;

export const sponsorResponse = z.strictObject({ sponsor });
export const sponsorsResponse = z.strictObject({ sponsors: z.array(sponsor) });
export const removedSponsorResponse = z.strictObject({ chain: z.string(), removed: z.literal(true) });
