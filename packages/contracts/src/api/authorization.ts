import { z } from 'zod';
import { must } from './fields.ts';

/**
 * A payment that its payer has signed instead of a transaction (EIP-3009), as JSON: with it, anyone who pays the gas
 * moves the money. Numbers are decimal text, as in x402's payloads.
 */

const digits = must('a whole number as decimal digits');
const number = z
  .string(digits)
  .regex(/^(0|[1-9]\d{0,77})$/, digits)
  .refine((text) => BigInt(text) < 1n << 256n, digits);
const anAddress = must('an EVM address: 0x and 40 hexadecimal digits');
const address = z.string(anAddress).regex(/^0x[0-9a-fA-F]{40}$/, anAddress);
const word = must('0x and 64 hexadecimal digits');
const SIGNATURE_LENGTH_MAX = 16_384;
const aSignature = must('a signature: 0x and hexadecimal digits');

/** What is signed: the message of `typedData`. */
export const authorization = z.strictObject({
  from: address.meta({ description: 'The wallet that pays.' }),
  to: address.meta({ description: 'The wallet that is paid.' }),
  value: number.meta({ description: 'Base units.' }),
  validAfter: number.meta({ description: 'Seconds since 1970, by the clock of the chain.' }),
  validBefore: number.meta({ description: 'Seconds since 1970: from then on it can move nothing.' }),
  nonce: z
    .string(word)
    .regex(/^0x[0-9a-fA-F]{64}$/, word)
    .meta({ description: 'The `reference` of the intent.' }),
});
export type Authorization = z.infer<typeof authorization>;

/** What a wallet has signed, by its key or as its contract says (ERC-1271). */
export const signature = z
  .string(aSignature)
  .max(SIGNATURE_LENGTH_MAX, aSignature)
  .regex(/^0x(?:[0-9a-fA-F]{2})+$/, aSignature);

const field = <const Name extends string, const Type extends string>(name: Name, type: Type) =>
  z.strictObject({ name: z.literal(name), type: z.literal(type) });

/** What the wallet signs, as `eth_signTypedData_v4` takes it (EIP-712). */
export const typedData = z.strictObject({
  types: z.strictObject({
    EIP712Domain: z.tuple([
      field('name', 'string'),
      field('version', 'string'),
      field('chainId', 'uint256'),
      field('verifyingContract', 'address'),
    ]),
    TransferWithAuthorization: z.tuple([
      field('from', 'address'),
      field('to', 'address'),
      field('value', 'uint256'),
      field('validAfter', 'uint256'),
      field('validBefore', 'uint256'),
      field('nonce', 'bytes32'),
    ]),
  }),
  domain: z.strictObject({
    name: z.string(),
    version: z.string(),
    chainId: z.number().int(),
    verifyingContract: address.meta({ description: 'The token.' }),
  }),
  primaryType: z.literal('TransferWithAuthorization'),
  message: authorization,
});
export type TypedData = z.infer<typeof typedData>;

/** What whoever pays the gas sends. It moves no ETH. */
export const relayedCall = z.strictObject({
  to: address.meta({ description: 'The contract to call.' }),
  data: z
    .string()
    .regex(/^0x(?:[0-9a-f]{2})+$/)
    .meta({ description: 'Calldata, with the signature in it.' }),
});
export type RelayedCall = z.infer<typeof relayedCall>;

/** What an x402 facilitator is asked for: the `exact` scheme on EVM chains, by EIP-3009. */
const paymentRequirements = z.strictObject({
  scheme: z.literal('exact'),
  network: z.string().meta({ description: 'The chain (CAIP-2).' }),
  amount: number.meta({ description: 'Base units.' }),
  asset: address.meta({ description: 'The token.' }),
  payTo: address.meta({ description: 'The wallet that is paid.' }),
  maxTimeoutSeconds: z.number().int(),
  extra: z.strictObject({
    name: z.string().meta({ description: "Of the token's domain." }),
    version: z.string().meta({ description: "Of the token's domain." }),
  }),
});

/** The authorization as an x402 facilitator takes it: the body of its `POST /verify` and `POST /settle`, version 2. */
export const x402Settlement = z.strictObject({
  x402Version: z.literal(2),
  paymentPayload: z.strictObject({
    x402Version: z.literal(2),
    accepted: paymentRequirements,
    payload: z.strictObject({ signature, authorization }),
  }),
  paymentRequirements,
});
export type X402Settlement = z.infer<typeof x402Settlement>;
