// Written by `pnpm --filter @pf/client generate` from the OpenAPI document.
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "chain": "eip155:84532",
         *       "token": "USDC",
         *       "amount": "12.50",
         *       "requestor": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
         *       "metadata": {
         *         "order": "1042"
         *       }
         *     }
         */
        readonly CreateIntentRequest: {
            /** @description CAIP-2 id, for example `eip155:8453`. With a test key, the id of a live chain selects its testnet. */
            readonly chain: string;
            /** @description Symbol of a token, in upper or lower case, or its address. */
            readonly token: string;
            /** @description Decimal string greater than 0, with at most as many decimals as the token has, for example `12.50`. */
            readonly amount: string;
            /** @description The wallet that receives the payment. */
            readonly requestor: string;
            /**
             * @description `request` (default) or `send`, which requires `fulfiller`.
             * @default request
             * @enum {string}
             */
            readonly direction?: "request" | "send";
            /** @description The wallet that pays. */
            readonly fulfiller?: string | null;
            /** @description A string of 1 to 255 characters that identifies this request, so that it can be retried safely. */
            readonly idempotencyKey?: string;
            /**
             * @description Time to live: 60 to 604800 seconds.
             * @default 86400
             */
            readonly ttlSeconds?: number;
            /** @description Your own data: at most 20 keys of 1 to 40 characters, with values of at most 500 characters. */
            readonly metadata?: {
                readonly [key: string]: string;
            } | null;
        };
        /**
         * @example {
         *       "updatedAt": "2026-11-21T12:00:00.000Z",
         *       "metadata": {
         *         "table": "7",
         *         "order": null
         *       }
         *     }
         */
        readonly UpdateIntentRequest: {
            /**
             * Format: date-time
             * @description The current `updatedAt` of the intent. A stale value returns 409.
             */
            readonly updatedAt: string;
            /** @description Your own data: at most 20 keys of 1 to 40 characters, with values of at most 500 characters. */
            readonly metadata?: {
                readonly [key: string]: string | null;
            } | null;
            /** @description Decimal string greater than 0, with at most as many decimals as the token has, for example `12.50`. */
            readonly amount?: string;
            /** @description Time to live: 60 to 604800 seconds. */
            readonly ttlSeconds?: number;
        };
        /**
         * @example {
         *       "fulfiller": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
         *     }
         */
        readonly BuildIntentRequest: {
            /** @description The wallet that pays. */
            readonly fulfiller?: string | null;
        };
        /**
         * @example {
         *       "signedTransaction": "AviQg…",
         *       "fulfiller": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
         *     }
         */
        readonly SubmitIntentRequest: {
            /** @description The signed transaction in base64 (or `0x` hex on EVM chains), or the hash of one that the wallet has sent. */
            readonly signedTransaction: string;
            /** @description The wallet that pays. */
            readonly fulfiller?: string | null;
        };
        /**
         * @example {
         *       "targetState": "confirmed"
         *     }
         */
        readonly SimulateIntentRequest: {
            /**
             * @description The state to move to.
             * @enum {string}
             */
            readonly targetState: "created" | "pending" | "confirmed" | "finalized" | "failed" | "expired" | "cancelled";
        };
        /**
         * @example {
         *       "id": "pi_5mUj8xNgYq3vWJ2hTfKd7",
         *       "idempotencyKey": "order-1042",
         *       "chain": "eip155:84532",
         *       "token": "USDC",
         *       "tokenAddress": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
         *       "amount": "12.50",
         *       "amountBaseUnits": "12500000",
         *       "requestor": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
         *       "fulfiller": null,
         *       "direction": "request",
         *       "state": "created",
         *       "retryRequired": false,
         *       "pendingAtExpiry": false,
         *       "reference": "0x5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e",
         *       "txSignature": null,
         *       "detectedAt": null,
         *       "ataRentLamports": null,
         *       "ttlSeconds": 86400,
         *       "expiresAt": "2026-11-22T12:00:00.000Z",
         *       "createdAt": "2026-11-21T12:00:00.000Z",
         *       "updatedAt": "2026-11-21T12:00:00.000Z",
         *       "confirmedAt": null,
         *       "finalizedAt": null,
         *       "metadata": {
         *         "order": "1042"
         *       },
         *       "refundedBy": null,
         *       "refundOf": null,
         *       "livemode": false
         *     }
         */
        readonly PaymentIntent: {
            /** @description Unique identifier: `pi_` and at most 22 characters, short enough for sound and QR codes. */
            readonly id: string;
            /** @description The key that the create request contained, unique per account and mode for 24 hours. Absent if it contained none. */
            readonly idempotencyKey?: string;
            /** @description The chain on which the money moves, as a CAIP-2 id. With a test key, always a testnet. */
            readonly chain: string;
            /** @description Canonical symbol of the token, for example `USDC`. */
            readonly token: string;
            /** @description The token's contract or mint on this chain. */
            readonly tokenAddress: string;
            /** @description Decimal string, as in the request. */
            readonly amount: string;
            /** @description The amount in base units of the token, as a decimal string. */
            readonly amountBaseUnits: string;
            /** @description The wallet that receives the payment, in the canonical form of its chain. */
            readonly requestor: string;
            /** @description The wallet that pays; `null` until it is known. */
            readonly fulfiller: string | null;
            /**
             * @description `request`: the requestor asks to be paid. `send`: the fulfiller pushes a payment.
             * @enum {string}
             */
            readonly direction: "request" | "send";
            /**
             * @description `created`; `pending` (transaction broadcast); `confirmed` (completion signal for users); `finalized` (final on chain); `failed` (reverted on chain); `expired`; `cancelled`.
             * @enum {string}
             */
            readonly state: "created" | "pending" | "confirmed" | "finalized" | "failed" | "expired" | "cancelled";
            /** @description The transaction was dropped. Build it again, and let the fulfiller sign it again. */
            readonly retryRequired: boolean;
            /** @description A transaction could still land when the intent expired. If it lands, the intent becomes `confirmed`. */
            readonly pendingAtExpiry: boolean;
            /** @description Identifies the payment on chain. Solana: a base58 public key. EVM: 32 bytes in hex. */
            readonly reference: string;
            /** @description Solana signature or EVM transaction hash, once submitted or seen on chain. */
            readonly txSignature: string | null;
            /** @description When the payer's app reported that it had received the id. */
            readonly detectedAt: string | null;
            /** @description Rent for the requestor's new token account, in lamports. Solana only. */
            readonly ataRentLamports: number | null;
            /** @description Time to live, in seconds from `createdAt`. */
            readonly ttlSeconds: number;
            /**
             * Format: date-time
             * @description When the intent expires if it is not paid.
             */
            readonly expiresAt: string;
            /**
             * Format: date-time
             * @description When the intent was created.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description Increases with every change of a public field. Send it with PATCH.
             */
            readonly updatedAt: string;
            /** @description When the payment was confirmed. */
            readonly confirmedAt: string | null;
            /** @description When the payment became final on chain. */
            readonly finalizedAt: string | null;
            /** @description Your own data: at most 20 keys of 1 to 40 characters, with values of at most 500 characters. */
            readonly metadata: {
                readonly [key: string]: string;
            } | null;
            /** @description Id of the intent that refunds this one. */
            readonly refundedBy: string | null;
            /** @description Id of the intent that this one refunds. */
            readonly refundOf: string | null;
            /** @description Whether the intent was created with a live key. */
            readonly livemode: boolean;
        };
        readonly Error: {
            readonly error: {
                /** @enum {string} */
                readonly code: "request.malformed_json" | "request.malformed_http" | "request.validation_failed" | "api_key.missing" | "api_key.invalid" | "api_key.test_mode_required" | "api_key.insufficient_scope" | "plan.upgrade_required" | "intent.not_found" | "delivery.not_found" | "route.not_found" | "request.method_not_allowed" | "request.timeout" | "request.headers_too_large" | "request.too_large" | "request.unsupported_media_type" | "intent.invalid_state" | "intent.already_fulfilled" | "intent.expired" | "intent.stale_update" | "intent.submission_in_progress" | "intent.already_refunded" | "chain.not_available" | "token.not_available" | "address.sanctions_match" | "address.not_payable" | "transaction.malformed" | "transaction.mismatch" | "transaction.rejected" | "rate_limit.exceeded" | "internal.error" | "rpc.unavailable" | "transaction.not_visible" | "screening.unavailable" | "service.unavailable";
                readonly message: string;
                readonly param: string | null;
                readonly details: {
                    readonly [key: string]: unknown;
                } | null;
            };
        };
        readonly Transaction: {
            /** @description The unsigned transaction in base64. Sign it without changes. */
            readonly blob: string;
            /**
             * @description `solana_v0_message`: a complete transaction with empty signatures. `evm_rlp`: EIP-1559, `0x02 ‖ rlp`. `tempo_tip20`: a Tempo transaction, `0x76 ‖ rlp`.
             * @enum {string}
             */
            readonly format: "solana_v0_message" | "evm_rlp" | "tempo_tip20";
            /** @description Rent for the requestor's token account if it must be created, in lamports. Solana only. */
            readonly ataRentLamports: number | null;
            /** @description Estimated fee in lamports. Solana only. */
            readonly estimatedFeeLamports: number | null;
            /** @description Estimated fee in USD, as a decimal string. Tempo only. */
            readonly estimatedFeeUsdc: string | null;
            /** @description Estimated fee in ETH, as a decimal string. Base only. */
            readonly estimatedFeeEth: string | null;
        };
        readonly Event: {
            readonly eventId: string;
            /** @enum {string} */
            readonly type: "intent.created" | "intent.detected" | "intent.pending" | "intent.confirmed" | "intent.finalized" | "intent.failed" | "intent.expired" | "intent.cancelled" | "intent.retry_required";
            /** Format: date-time */
            readonly createdAt: string;
            readonly livemode: boolean;
            readonly data: {
                readonly intent: components["schemas"]["PaymentIntent"];
            };
        };
        readonly WebhookDelivery: {
            /** @description Unique identifier, prefixed `whd_`. */
            readonly id: string;
            /** @description The event that is delivered. Use it to ignore events that you have already processed. */
            readonly eventId: string;
            /** @description The URL that the event is sent to. */
            readonly url: string;
            /** @description HTTP status of the last response; `null` if there was none. */
            readonly responseStatus: number | null;
            /** @description Number of attempts so far. */
            readonly attemptCount: number;
            /** @description When the last attempt was made. */
            readonly lastAttemptedAt: string | null;
            /** @description When the receiver accepted the event with a 2xx response. */
            readonly deliveredAt: string | null;
            /** @description When the last attempt failed and no further ones were scheduled. */
            readonly failedAt: string | null;
        };
        readonly ListIntentsQuery: {
            /**
             * @description Number of objects to return.
             * @default 20
             */
            readonly limit?: number;
            /** @description The `nextCursor` of the previous page. */
            readonly cursor?: string;
            /** @description State of the intent. Repeat it for several: `state=created&state=pending`. */
            readonly state?: readonly ("created" | "pending" | "confirmed" | "finalized" | "failed" | "expired" | "cancelled")[];
            /** @description CAIP-2 id. With a test key, the id of a live chain selects its testnet. */
            readonly chain?: string;
            /** @description A token symbol, which matches on all chains, or a token address. */
            readonly token?: string;
            /** @enum {string} */
            readonly direction?: "request" | "send";
            /** @description The wallet that receives the payment. */
            readonly requestor?: string;
            /** @description The wallet that pays. */
            readonly fulfiller?: string;
            readonly reference?: string;
            /** @description Hash or signature of the transaction that pays. */
            readonly txSignature?: string;
            /**
             * Format: date-time
             * @description Created after this time.
             */
            readonly createdAfter?: string;
            /**
             * Format: date-time
             * @description Created before this time.
             */
            readonly createdBefore?: string;
            /** @description Metadata values to match: `metadata[order]=A-1001`; at most 20 keys. */
            readonly metadata?: {
                readonly [key: string]: string;
            };
        };
        readonly ListDeliveriesQuery: {
            /**
             * @description Number of objects to return.
             * @default 20
             */
            readonly limit?: number;
            /** @description The `nextCursor` of the previous page. */
            readonly cursor?: string;
            /** @description Deliveries of events of this payment intent. */
            readonly intentId?: string;
            /** @description Deliveries of this event: one for each URL. */
            readonly eventId?: string;
            /**
             * @description Deliveries of events of this type.
             * @enum {string}
             */
            readonly type?: "intent.created" | "intent.detected" | "intent.pending" | "intent.confirmed" | "intent.finalized" | "intent.failed" | "intent.expired" | "intent.cancelled" | "intent.retry_required";
            /**
             * @description `pending`: an attempt is still due. `delivered`: accepted by the receiver. `failed`: all attempts failed.
             * @enum {string}
             */
            readonly status?: "pending" | "delivered" | "failed";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
