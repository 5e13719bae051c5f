import type { PublicClaim, PublicIntent, PublicOverpayment, PublicPayment } from '@pf/domain';
import type { BuiltTransaction } from '../api/index.ts';
import { UNDELIVERED_MAX } from '../deliveries.ts';
import { FAILING_DAYS } from '../endpoints.ts';

/** Field descriptions for the OpenAPI document, in Markdown. The type makes the compiler check that none is missing. */
const INTENT: Readonly<Record<keyof PublicIntent, string>> = {
  id: 'Unique identifier: `pi_` and at most 22 characters, short enough for sound and QR codes.',
  idempotencyKey:
    'The key that the create request contained, unique per account and mode for 24 hours. Absent if it contained none.',
  chain: 'The chain on which the money moves, as a CAIP-2 id. With a test key, always a testnet.',
  token: 'Canonical symbol of the token, for example `USDC`.',
  tokenAddress: "The token's contract or mint on this chain.",
  amount: 'Decimal string, as in the request.',
  amountBaseUnits: 'The amount in base units of the token, as a decimal string.',
  requestor: 'The wallet that receives the payment, in the canonical form of its chain.',
  fulfiller: 'The wallet that pays; `null` until it is known.',
  direction: '`request`: the requestor asks to be paid. `send`: the fulfiller pushes a payment.',
  attribution:
    '`amount`: a plain transfer of exactly `amount` pays it, too, and `amount` has up to 0.009999 more than was ' +
    'asked for. Absent where only a payment with the `reference` does.',
  accept: '`at_least`: one transfer of `amount` or more pays it. Absent where only exactly `amount` does.',
  amountReceived:
    'What the transfer that pays it has brought, as a decimal string. Only with `accept`, while it is `confirmed` or ' +
    '`finalized`.',
  amountReceivedBaseUnits: '`amountReceived` in base units of the token, as a decimal string.',
  state:
    '`created`; `pending` (transaction broadcast); `confirmed` (completion signal for users); `finalized` (final on ' +
    'chain); `failed` (reverted on chain); `expired`; `cancelled`.',
  retryRequired: 'Whether the transaction was dropped. Then build it again, and have the fulfiller sign it again.',
  pendingAtExpiry:
    'Whether a transaction could still land when the intent expired. If it lands, the intent becomes `confirmed`.',
  reference: 'Identifies the payment on chain. Solana: a base58 public key. EVM: 32 bytes in hex.',
  txSignature: 'Solana signature or EVM transaction hash, once submitted or seen on chain.',
  detectedAt: "When the payer's app reported that it had received the id.",
  ataRentLamports: "Rent for the requestor's new token account, in lamports. Solana only.",
  ttlSeconds: 'Time to live, in seconds from `createdAt`.',
  expiresAt: 'When the intent expires if it is not paid.',
  createdAt: 'When the intent was created.',
  updatedAt: 'Increases with every change of a public field. Send it with PATCH.',
  confirmedAt: 'When the payment was confirmed.',
  finalizedAt: 'When the payment became final on chain.',
  metadata: 'Your own data: at most 20 keys of 1 to 40 characters, with values of at most 500 characters.',
  refundedBy: 'Id of the intent that refunds this one.',
  refundOf: 'Id of the intent that this one refunds.',
  livemode: 'Whether the intent was created with a live key.',
  erasedAt: 'When its personal data was erased: `metadata` is empty from then on. Absent otherwise.',
};

const TRANSACTION: Readonly<Record<keyof BuiltTransaction, string>> = {
  blob: 'The unsigned transaction in base64. Sign it without changes.',
  format:
    '`solana_v0_message`: a complete transaction with empty signatures. `evm_rlp`: EIP-1559, `0x02 ‖ rlp`. ' +
    '`tempo_tip20`: a Tempo transaction, `0x76 ‖ rlp`.',
  ataRentLamports: "Rent for the requestor's token account if it must be created, in lamports. Solana only.",
  estimatedFeeLamports: 'Estimated fee in lamports. Solana only.',
  estimatedFeeUsdc: 'Estimated fee in USD, as a decimal string. Tempo only; `null` if another account pays it.',
  estimatedFeeEth: 'Estimated fee in ETH, as a decimal string. Base only.',
  expiresAt:
    'Until when it can land; on Solana an estimate by the pace of its blocks. `null` where it does not expire ' +
    '(Base), or nothing is known. Build again if a third of its time has passed when the wallet is to sign.',
  lastValidBlockHeight: 'The last block height in which it can land. Solana only.',
};

const PAYMENT: Readonly<Record<keyof PublicPayment, string>> = {
  txSignature: 'Solana signature or EVM transaction hash of the payment.',
  sender: 'The wallet that paid. Send the money back to it.',
  recipient: 'The wallet that received it.',
  tokenAddress: 'The contract or mint of the token that was paid.',
  amount: "Decimal string; `null` if the token is not the intent's.",
  amountBaseUnits: 'The amount in base units of the token, as a decimal string.',
  reference: 'The reference that the payment carries.',
  differs: 'The terms that the payment does not match; empty if it matches all.',
  late: 'The state in which the payment found the intent, if it had ended; otherwise `null`.',
  claimed: 'Present where the chain does not show that the payment was for this intent: a payer says so.',
};

const CLAIM: Readonly<Record<keyof PublicClaim, string>> = {
  txSignature: 'Solana signature or EVM transaction hash of the payment that was reported.',
  intentIds: 'The other payment intents for which payers have submitted it so far, oldest first; 20 at most.',
};

const OVERPAYMENT: Readonly<Record<keyof PublicOverpayment, string>> = {
  txSignature: 'Solana signature or EVM transaction hash of the payment.',
  amount: 'By how much it was more than the `amount` of the intent, as a decimal string.',
  amountBaseUnits: 'The same in base units of the token, as a decimal string.',
};

const DELIVERY: Readonly<Record<string, string>> = {
  id: 'Unique identifier, prefixed `whd_`.',
  eventId: 'The event that is delivered. Use it to ignore events that you have already processed.',
  type: 'The type of the event.',
  intentId: 'The payment intent of the event; `null` for an event of an endpoint.',
  url: 'The URL that the event is sent to.',
  responseStatus: 'HTTP status of the last response; `null` if there was none.',
  attemptCount: 'Number of attempts so far.',
  lastAttemptedAt: 'When the last attempt was made.',
  deliveredAt: 'When the receiver accepted the event with a 2xx response.',
  failedAt: 'When the last attempt failed and no other was scheduled.',
  nextAttemptAt: 'When the next attempt is made; `null` if the delivery has ended.',
};

const ATTEMPT: Readonly<Record<string, string>> = {
  number: 'Counted from 1.',
  at: 'When the attempt ended.',
  durationMs: 'How long the attempt took, in milliseconds.',
  responseStatus: 'HTTP status of the response; `null` if there was none.',
  reason: 'Why it failed, as text; `null` if it did not.',
  responseBody: 'The first 1 KiB of the response; `null` if there was none.',
};

const ENDPOINT: Readonly<Record<string, string>> = {
  id: 'Unique identifier, prefixed `whe_`.',
  url: 'The URL that events are sent to. It starts with `https://` in live mode.',
  name: 'Your own name for it.',
  eventTypes: 'The types that are sent; `null`: all, including those that are added later.',
  apiVersion: 'The version of the payloads, also in the header `X-PF-Api-Version`. It changes only when you change it.',
  idempotencyKey: 'A string of 1 to 255 characters that identifies this request, so that it can be repeated safely.',
  paused: 'While it is true, deliveries wait.',
  status: '`enabled`; `paused` by you; `disabled` because it failed.',
  disabledReason: `\`gone\`: it returned 410. \`failing\`: it had accepted nothing for ${FAILING_DAYS} days.`,
  disabledAt: 'When it was disabled.',
  failingSince: 'The first failed attempt since the last successful one; `null` if the last one succeeded.',
  missedSince:
    'Since when events have no delivery to it yet, because the account has more than ' +
    `${UNDELIVERED_MAX.toLocaleString('en')} undelivered; \`null\` if all have. They follow once it accepts.`,
  missedCount: `How many events of the account that are, at most ${UNDELIVERED_MAX.toLocaleString('en')}.`,
  createdAt: 'When it was created. It receives events from then on.',
  livemode: 'Whether it receives live events.',
};

const REPLAY: Readonly<Record<string, string>> = {
  id: 'Unique identifier, prefixed `whr_`.',
  state:
    '`counting` the deliveries; `sending`; `completed`: everything that it has sent was accepted or has failed; ' +
    '`cancelled`.',
  since: 'Deliveries of events from this time on, by the time at which the service read the event.',
  until: 'Deliveries of events before this time: at most the time of the request.',
  endpointId: 'Only deliveries to this endpoint, which may have been removed.',
  toEndpointId: 'The endpoint that receives the events, instead of their own.',
  eventTypes: 'Only events of these types.',
  status: '`failed` (default): deliveries that failed. `all`: also those that arrived.',
  total: 'Number of matching deliveries found so far; complete once the replay is `sending`.',
  pending: 'Sent by it, and not accepted yet.',
  delivered: 'Sent by it, and accepted. A delivery counts for the replay that sent it last.',
  failed: 'Sent by it, and failed for good.',
  skipped: 'Not sent: accepted or outstanding already, or their endpoint is disabled or does not select the type.',
  createdAt: 'When it was created.',
  endedAt: 'When it was completed or cancelled.',
  livemode: 'Whether it sends live events.',
  idempotencyKey: 'A string of 1 to 255 characters that identifies this request, so that it can be repeated safely.',
};

const LINK: Readonly<Record<string, string>> = {
  id: 'Unique identifier, prefixed `pl_`.',
  amount: 'Decimal string greater than 0, the same for every offer, with at most as many decimals as each token has.',
  attribution:
    '`amount`, only where its intents have it: each has an `amount` of its own, up to 0.009999 more than the link’s. ' +
    'In a request `reference` is the default.',
  accept: '`at_least`, only where its intents have it. In a request `exact` is the default.',
  offers: 'The ways to pay, at most 20: each has `chain`, `token` and `requestor` as an intent has them.',
  state:
    '`open`; `paid`: one of its intents is confirmed; `cancelled`; `expired`. A late payment still makes it `paid`; ' +
    'if the chain undoes the payment, the link returns to its previous state.',
  intents:
    'The intents that its payers have created, oldest first: the number of the offer, the intent, and whether it is ' +
    'paid. More than one is paid if two payers paid at the same time.',
  paidBy: 'The intent that paid it; `null` if none has.',
  idempotencyKey: 'A string of 1 to 255 characters that identifies this request, so that it can be repeated safely.',
  metadata: 'Your own data, copied to its intents: at most 20 keys of 1 to 40 characters, with values up to 500.',
  ttlSeconds: 'Time to live: 60 to 604800 seconds, 86400 by default.',
  expiresAt: 'When the link expires: no offer can be chosen after that.',
  createdAt: 'When it was created.',
  paidAt: 'When it was paid.',
  cancelledAt: 'When it was cancelled.',
  livemode: 'Whether its payments move real money.',
};

const SPONSOR: Readonly<Record<string, string>> = {
  url: 'Its JSON-RPC URL. It must resolve to public addresses.',
  context:
    'Passed to the paymaster with each request, for example to select a policy. Responses show only its field names.',
  headers: 'Headers sent with each request, such as `x-api-key`: at most 8. Responses show only their names.',
  chain: 'CAIP-2 id of the chain on which it pays fees.',
  origin: 'The origin of its URL; the rest is hidden because it may contain a secret.',
  updatedAt: 'When it was set.',
  livemode: 'Whether it pays fees of live payments.',
};

const REQUEST: Readonly<Record<string, string>> = {
  chain: 'CAIP-2 id, for example `eip155:8453`. With a test key, the id of a live chain selects its testnet.',
  token: 'Symbol of a token, in upper or lower case, or its address.',
  amount: 'Decimal string greater than 0, with at most as many decimals as the token has, for example `12.50`.',
  requestor: 'The wallet that receives the payment.',
  direction: '`request` (default) or `send`, which requires `fulfiller`.',
  attribution:
    '`reference` (default), or `amount`: a plain transfer of exactly the `amount` of the response pays it, too.',
  accept: '`exact` (default), or `at_least`: a transfer of more than `amount` pays it, too.',
  fulfiller: 'The wallet that pays.',
  idempotencyKey: 'A string of 1 to 255 characters that identifies this request, so that it can be retried safely.',
  ttlSeconds: 'Time to live: 60 to 604800 seconds.',
  metadata: 'Your own data: at most 20 keys of 1 to 40 characters, with values of at most 500 characters.',
  signedTransaction:
    'The signed transaction in base64 (or `0x` hex on EVM chains), or the hash of one that the wallet has sent.',
  updatedAt: 'The current `updatedAt` of the intent. A stale value returns 409.',
  targetState: 'The state to move to.',
  sponsored: 'Whether another account pays the fee: on Tempo and Solana, and for smart accounts on Base.',
  feePayer: 'On Solana, the account that pays the fee, if it is not that of the sponsor that is set for the chain.',
};

/** Field descriptions by component. Other components are described by their schemas alone. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PaymentIntent: INTENT,
  PayerIntent: INTENT,
  Transaction: TRANSACTION,
  UnexpectedPayment: PAYMENT,
  PaymentClaim: CLAIM,
  Overpayment: OVERPAYMENT,
  WebhookDelivery: DELIVERY,
  DeliveryAttempt: ATTEMPT,
  WebhookEndpoint: ENDPOINT,
  CreateEndpointRequest: ENDPOINT,
  UpdateEndpointRequest: ENDPOINT,
  Sponsor: SPONSOR,
  SetSponsorRequest: SPONSOR,
  WebhookReplay: REPLAY,
  CreateReplayRequest: REPLAY,
  PaymentLink: LINK,
  PayerPaymentLink: LINK,
  CreatePaymentLinkRequest: LINK,
  CreateIntentRequest: REQUEST,
  BuildIntentRequest: REQUEST,
  SubmitIntentRequest: REQUEST,
  UpdateIntentRequest: REQUEST,
  SimulateIntentRequest: REQUEST,
};
