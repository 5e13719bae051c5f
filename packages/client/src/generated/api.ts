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
            /** @description CAIP-2, for example `eip155:8453`. With a test key the live id means its testnet. */
            readonly chain: string;
            /** @description A symbol in any case, or an address of the token. */
            readonly token: string;
            /** @description Plain decimal text, greater than 0, at most as many decimals as the token has. */
            readonly amount: string;
            /** @description The wallet that is to be paid. */
            readonly requestor: string;
            /**
             * @description `request` (default) or `send`, which needs `fulfiller`.
             * @default request
             * @enum {string}
             */
            readonly direction?: "request" | "send";
            /** @description The wallet that pays. */
            readonly fulfiller?: string | null;
            /** @description 1 to 255 characters. */
            readonly idempotencyKey?: string;
            /**
             * @description 60 to 604800 seconds.
             * @default 86400
             */
            readonly ttlSeconds?: number;
            /** @description At most 20 keys of 1 to 40 characters, values of at most 500. */
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
             * @description As last read: a stale one is refused with 409.
             */
            readonly updatedAt: string;
            /** @description At most 20 keys of 1 to 40 characters, values of at most 500. */
            readonly metadata?: {
                readonly [key: string]: string | null;
            } | null;
            /** @description Plain decimal text, greater than 0, at most as many decimals as the token has. */
            readonly amount?: string;
            /** @description 60 to 604800 seconds. */
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
            /** @description Base64 (or `0x` hex on EVM chains) of the signed transaction; or the hash of one that the wallet sent by itself. */
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
             * @description The state to walk to, with every event on the way.
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
            /** @description Unique identifier, prefixed `pi_`: at most 22 characters after it, short enough for sound and QR. */
            readonly id: string;
            /** @description The caller's own, unique per account and mode for 24 hours. Absent where none was given. */
            readonly idempotencyKey?: string;
            /** @description Where money moves: a CAIP-2 id. A test key that named a live chain sees its testnet here. */
            readonly chain: string;
            /** @description Canonical symbol, for example `USDC`. */
            readonly token: string;
            /** @description The token's contract or mint on this chain. */
            readonly tokenAddress: string;
            /** @description Decimal text, as the caller wrote it. */
            readonly amount: string;
            /** @description The amount in the token's base units, as decimal text. */
            readonly amountBaseUnits: string;
            /** @description The wallet that is to be paid, in the canonical form of its chain. */
            readonly requestor: string;
            /** @description The wallet that pays; `null` until it is known. */
            readonly fulfiller: string | null;
            /**
             * @description `request`: the requestor asks to be paid. `send`: the fulfiller pushes a payment.
             * @enum {string}
             */
            readonly direction: "request" | "send";
            /**
             * @description `created`, `pending` (broadcast), `confirmed` (the signal for users), `finalized` (final on chain), `failed` (reverted on chain), `expired`, `cancelled`.
             * @enum {string}
             */
            readonly state: "created" | "pending" | "confirmed" | "finalized" | "failed" | "expired" | "cancelled";
            /** @description The transaction was dropped: build again and let the fulfiller sign anew. */
            readonly retryRequired: boolean;
            /** @description A transaction could still land when the time ran out. If it does, the intent becomes `confirmed`. */
            readonly pendingAtExpiry: boolean;
            /** @description Found again in the payment on chain. Solana: a base58 public key. EVM: 32 bytes in hex. */
            readonly reference: string;
            /** @description Solana signature or EVM transaction hash, once submitted or seen on chain. */
            readonly txSignature: string | null;
            /** @description When the payer said that the id was received. */
            readonly detectedAt: string | null;
            /** @description Rent of the requestor's new token account, in lamports. Solana only. */
            readonly ataRentLamports: number | null;
            /** @description Time to live, in seconds. */
            readonly ttlSeconds: number;
            /**
             * Format: date-time
             * @description When the time runs out.
             */
            readonly expiresAt: string;
            /**
             * Format: date-time
             * @description When it was created.
             */
            readonly createdAt: string;
            /**
             * Format: date-time
             * @description Grows with every change of a public field: send it with PATCH.
             */
            readonly updatedAt: string;
            /** @description When it was confirmed. */
            readonly confirmedAt: string | null;
            /** @description When it was final on chain. */
            readonly finalizedAt: string | null;
            /** @description The caller's own: at most 20 keys of 1 to 40 characters, values of at most 500. */
            readonly metadata: {
                readonly [key: string]: string;
            } | null;
            /** @description The intent that refunds this one. */
            readonly refundedBy: string | null;
            /** @description The intent that this one refunds. */
            readonly refundOf: string | null;
            /** @description True where it was made with a live key. */
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
            /** @description The unsigned transaction in base64, ready to be signed as it is. */
            readonly blob: string;
            /**
             * @description `solana_v0_message`: a whole wire transaction with empty signatures. `evm_rlp`: EIP-1559, `0x02 ‖ rlp`. `tempo_tip20`: a Tempo transaction, `0x76 ‖ rlp`.
             * @enum {string}
             */
            readonly format: "solana_v0_message" | "evm_rlp" | "tempo_tip20";
            /** @description Rent of the requestor's token account where it must be created, in lamports. Solana only. */
            readonly ataRentLamports: number | null;
            /** @description Estimated fee in lamports. Solana only. */
            readonly estimatedFeeLamports: number | null;
            /** @description Estimated fee in USD, as decimal text. Tempo only. */
            readonly estimatedFeeUsdc: string | null;
            /** @description Estimated fee in ETH, as decimal text. Base only. */
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
            /** @description The event that was delivered: receivers drop repeats by it. */
            readonly eventId: string;
            /** @description Where it goes. */
            readonly url: string;
            /** @description The HTTP status of the last answer; `null` where there was none. */
            readonly responseStatus: number | null;
            /** @description How often it was tried. */
            readonly attemptCount: number;
            /** @description When it was tried last. */
            readonly lastAttemptedAt: string | null;
            /** @description When the receiver took it. */
            readonly deliveredAt: string | null;
            /** @description When it was given up. */
            readonly failedAt: string | null;
        };
        readonly ListIntentsQuery: {
            /**
             * @description How many to answer at once.
             * @default 20
             */
            readonly limit?: number;
            /** @description The `nextCursor` of the page before. */
            readonly cursor?: string;
            /** @description In one of these states: `state=created&state=pending`. */
            readonly state?: readonly ("created" | "pending" | "confirmed" | "finalized" | "failed" | "expired" | "cancelled")[];
            /** @description CAIP-2. Under a test key a live chain means its testnet. */
            readonly chain?: string;
            /** @description A symbol, on all chains, or the address of a token. */
            readonly token?: string;
            /** @enum {string} */
            readonly direction?: "request" | "send";
            /** @description The wallet that is to be paid. */
            readonly requestor?: string;
            /** @description The wallet that pays. */
            readonly fulfiller?: string;
            readonly reference?: string;
            /** @description The hash or signature of the transaction that pays. */
            readonly txSignature?: string;
            /**
             * Format: date-time
             * @description Created later than this moment.
             */
            readonly createdAfter?: string;
            /**
             * Format: date-time
             * @description Created earlier than this moment.
             */
            readonly createdBefore?: string;
            /** @description Metadata with these values: `metadata[order]=A-1001`; at most 20 keys. */
            readonly metadata?: {
                readonly [key: string]: string;
            };
        };
        readonly ListDeliveriesQuery: {
            /**
             * @description How many to answer at once.
             * @default 20
             */
            readonly limit?: number;
            /** @description The `nextCursor` of the page before. */
            readonly cursor?: string;
            /** @description Deliveries of events of this payment intent. */
            readonly intentId?: string;
            /** @description Deliveries of this event, one for each URL. */
            readonly eventId?: string;
            /**
             * @description Deliveries of events of this type.
             * @enum {string}
             */
            readonly type?: "intent.created" | "intent.detected" | "intent.pending" | "intent.confirmed" | "intent.finalized" | "intent.failed" | "intent.expired" | "intent.cancelled" | "intent.retry_required";
            /**
             * @description `pending`: something is still to be sent, now or later. `delivered`: a receiver took it. `failed`: it was given up.
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
