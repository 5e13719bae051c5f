import type { PublicIntent, UnsignedTransaction } from '@pf/domain';

/** What the document says of each field, in Markdown. The types make it complete. */
const INTENT: Readonly<Record<keyof PublicIntent, string>> = {
  id: 'Unique identifier, prefixed `pi_`: at most 22 characters after it, short enough for sound and QR.',
  idempotencyKey: "The caller's own, unique per account and mode for 24 hours. Absent where none was given.",
  chain: 'Where money moves: a CAIP-2 id. A test key that named a live chain sees its testnet here.',
  token: 'Canonical symbol, for example `USDC`.',
  tokenAddress: "The token's contract or mint on this chain.",
  amount: 'Decimal text, as the caller wrote it.',
  amountBaseUnits: "The amount in the token's base units, as decimal text.",
  requestor: 'The wallet that is to be paid, in the canonical form of its chain.',
  fulfiller: 'The wallet that pays; `null` until it is known.',
  direction: '`request`: the requestor asks to be paid. `send`: the fulfiller pushes a payment.',
  state:
    '`created`, `pending` (broadcast), `confirmed` (the signal for users), `finalized` (final on chain), `failed` (reverted on chain), `expired`, `cancelled`.',
  retryRequired: 'The transaction was dropped: build again and let the fulfiller sign anew.',
  pendingAtExpiry: 'A transaction could still land when the time ran out. If it does, the intent becomes `confirmed`.',
  reference: 'Found again in the payment on chain. Solana: a base58 public key. EVM: 32 bytes in hex.',
  txSignature: 'Solana signature or EVM transaction hash, once submitted or seen on chain.',
  detectedAt: 'When the payer said that the id was received.',
  ataRentLamports: "Rent of the requestor's new token account, in lamports. Solana only.",
  ttlSeconds: 'Time to live, in seconds.',
  expiresAt: 'When the time runs out.',
  createdAt: 'When it was created.',
  updatedAt: 'Grows with every change of a public field: send it with PATCH.',
  confirmedAt: 'When it was confirmed.',
  finalizedAt: 'When it was final on chain.',
  metadata: "The caller's own: at most 20 keys of 1 to 40 characters, values of at most 500.",
  refundedBy: 'The intent that refunds this one.',
  refundOf: 'The intent that this one refunds.',
  livemode: 'True where it was made with a live key.',
};

const TRANSACTION: Readonly<Record<keyof UnsignedTransaction, string>> = {
  blob: 'The unsigned transaction in base64, ready to be signed as it is.',
  format:
    '`solana_v0_message`: a whole wire transaction with empty signatures. `evm_rlp`: EIP-1559, `0x02 ‖ rlp`. `tempo_tip20`: a Tempo transaction, `0x76 ‖ rlp`.',
  ataRentLamports: "Rent of the requestor's token account where it must be created, in lamports. Solana only.",
  estimatedFeeLamports: 'Estimated fee in lamports. Solana only.',
  estimatedFeeUsdc: 'Estimated fee in USD, as decimal text. Tempo only.',
  estimatedFeeEth: 'Estimated fee in ETH, as decimal text. Base only.',
};

const DELIVERY: Readonly<Record<string, string>> = {
  id: 'Unique identifier, prefixed `whd_`.',
  eventId: 'The event that was delivered: receivers drop repeats by it.',
  url: 'Where it goes.',
  responseStatus: 'The HTTP status of the last answer; `null` where there was none.',
  attemptCount: 'How often it was tried.',
  lastAttemptedAt: 'When it was tried last.',
  deliveredAt: 'When the receiver took it.',
  failedAt: 'When it was given up.',
};

const REQUEST: Readonly<Record<string, string>> = {
  chain: 'CAIP-2, for example `eip155:8453`. With a test key the live id means its testnet.',
  token: 'A symbol in any case, or an address of the token.',
  amount: 'Plain decimal text, greater than 0, at most as many decimals as the token has.',
  requestor: 'The wallet that is to be paid.',
  direction: '`request` (default) or `send`, which needs `fulfiller`.',
  fulfiller: 'The wallet that pays.',
  idempotencyKey: '1 to 255 characters.',
  ttlSeconds: '60 to 604800 seconds.',
  metadata: 'At most 20 keys of 1 to 40 characters, values of at most 500.',
  signedTransaction:
    'Base64 (or `0x` hex on EVM chains) of the signed transaction; or the hash of one that the wallet sent by itself.',
  updatedAt: 'As last read: a stale one is refused with 409.',
  targetState: 'The state to walk to, with every event on the way.',
};

/** Texts by component: what is not listed is described by its own schema. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PaymentIntent: INTENT,
  Transaction: TRANSACTION,
  WebhookDelivery: DELIVERY,
  CreateIntentRequest: REQUEST,
  BuildIntentRequest: REQUEST,
  SubmitIntentRequest: REQUEST,
  UpdateIntentRequest: REQUEST,
  SimulateIntentRequest: REQUEST,
};
