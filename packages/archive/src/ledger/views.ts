/** The JSON of the event: `of('intent.chain')` is a text of it. */
const of = (path: string, from = 'event'): string => `(${from} ->> '$.${path}')`;
/** What undoes a payment: a reorg, or that the deposit which had paid is not assigned any more. */
const LOST = `(type = 'confirmation_lost'
  OR (type = 'deposit_told' AND ${of('data.standing')} IN ('lost', 'unassigned', 'withdrawn')))`;
const at = (path: string): string => `${of(path)}::TIMESTAMP`;
/** What is told of an extra payment. With a refund's id it is that refund's payment. */
const EXTRA = `(type = 'intent.extra_payment'
  OR (type = 'extra_payment_observed' AND ${of('data.refundIntentId')} IS NULL))`;
/** The transfer that an event tells of. */
const TOLD = `${of('data.landing.transfer.index')} AS landed_at,
        -- What settles an intent may land again in another place. The transaction that takes a lost one's place is
        -- known by confirmation_restored alone.
        CASE WHEN type IN ('intent.confirmed', 'confirmation_restored') THEN 'settles' ELSE landed_at END AS place,
        concat(${of('data.landing.transfer.block')}, ' ', ${of('data.landing.transfer.blockHash')}) AS block`;
/** The same transfer as it was told of last: it may have another place and amount now. */
const NOW = `arg_max(landed_at, version) OVER of_place AS transfer_index, arg_max(event, version) OVER of_place AS now,
        -- Its transaction is in another block now, and what it pays there has events of its own, but for a deposit.
        ${EXTRA} AND ${of('data.landing.depositId')} IS NULL
          AND block <> arg_max(block, version) FILTER (${EXTRA} OR type = 'confirmation_restored')
            OVER (PARTITION BY intent_id, paid_by) AS has_moved,
        ${EXTRA} AND version < coalesce(max(version) FILTER (type = 'confirmation_restored')
          OVER (PARTITION BY intent_id, paid_by, landed_at), 0) AS settles_now`;
const OF_PLACE = 'of_place AS (PARTITION BY intent_id, paid_by, place)';
/** One base unit of what a fee is paid in: of Tempo's stablecoins, which all have 6 decimals, of SOL, or of ETH. */
const FEE_UNIT = `(CASE WHEN fee_token IS NOT NULL THEN 0.000001 WHEN chain LIKE 'solana:%' THEN 0.000000001
          ELSE 0.000000000000000001 END)::DECIMAL(18, 18)`;

/**
 * What analysts query beside `events`. docs/reference/archive.md describes the columns. Times are in UTC; amounts are
 * decimals of the token.
 */
export const VIEWS: Readonly<Record<string, string>> = {
  // Every event holds the intent as it was after it: the last one has it as it is now.
  intents: `
    SELECT intent_id, version, account_id, livemode,
      ${of('intent.state')} AS state,
      ${of('intent.direction')} AS direction,
      ${of('intent.chain')} AS chain,
      ${of('intent.token')} AS token,
      try_cast(${of('intent.amount')} AS DECIMAL(38, 18)) AS amount,
      ${of('intent.requestor')} AS requestor,
      ${of('intent.fulfiller')} AS fulfiller,
      ${of('intent.txSignature')} AS tx_signature,
      ${at('intent.createdAt')} AS created_at,
      ${at('intent.updatedAt')} AS updated_at,
      ${at('intent.expiresAt')} AS expires_at,
      ${at('intent.confirmedAt')} AS confirmed_at,
      ${at('intent.finalizedAt')} AS finalized_at,
      ${of('intent.refundOf')} AS refund_of,
      ${of('intent.refundedBy')} AS refunded_by,
      event -> '$.intent.metadata' AS metadata,
      event -> '$.intent' AS intent
    FROM (
      SELECT intent_id, max(version) AS version, arg_max(account_id, version) AS account_id,
        arg_max(livemode, version) AS livemode, arg_max(event, version) AS event
      FROM events WHERE version IS NOT NULL GROUP BY intent_id
    )`,
  // Every event of a deposit holds it as it was after it.
  deposits: `
    WITH last AS (
      SELECT ${of('depositId')} AS deposit_id, account_id, livemode, event,
        ${of('version')}::INTEGER AS nth,
        max("at") FILTER (type = 'deposit.received') OVER of_deposit AS received_at,
        max("at") FILTER (type IN ('deposit.lost', 'deposit.withdrawn')) OVER of_deposit AS undone_at
      FROM events WHERE type LIKE 'deposit.%'
      WINDOW of_deposit AS (PARTITION BY ${of('depositId')})
      QUALIFY row_number() OVER (PARTITION BY ${of('depositId')} ORDER BY nth DESC) = 1
    )
    SELECT deposit_id, nth AS version, account_id, livemode,
      ${of('deposit.chain')} AS chain,
      ${of('deposit.token')} AS token,
      ${of('deposit.tokenAddress')} AS token_address,
      try_cast(${of('deposit.amount')} AS DECIMAL(38, 18)) AS amount,
      try_cast(${of('deposit.amountBaseUnits')} AS HUGEINT) AS base_units,
      ${of('deposit.sender')} AS sender,
      ${of('deposit.recipient')} AS recipient,
      ${of('deposit.reference')} AS reference,
      ${of('deposit.txSignature')} AS tx_signature,
      ${of('deposit.transferIndex')} AS transfer_index,
      ${at('deposit.blockTime')} AS block_time,
      ${of('deposit.level')} AS level,
      ${of('deposit.state')} AS state,
      ${of('deposit.reason')} AS reason,
      ${of('deposit.intentId')} AS intent_id,
      received_at,
      CASE WHEN level IN ('lost', 'withdrawn') THEN undone_at END AS undone_at,
      event -> '$.deposit' AS deposit
    FROM last`,
  // One row for each transfer of money that was credited. Of one that was reported again, the last report counts, also
  // where it was an extra payment before it settled its intent, or a reorg has moved it. What only a payer's word
  // connects with an intent is left out where the transfer pays another one: it came once.
  payments: `
    WITH landed AS (
      SELECT intent_id, version, "at", account_id, livemode, chain, token, type, event,
        coalesce(${of('data.landing.hash')}, ${of('data.hash')}) AS paid_by, ${TOLD}, ${NOW}
      FROM events
      WHERE (type IN ('intent.confirmed', 'confirmation_restored', 'intent.mismatched_payment') OR ${EXTRA})
        -- What was withdrawn is counted by the events that followed.
        AND NOT EXISTS (
          FROM events later WHERE events.type = 'intent.mismatched_payment'
            AND later.type = 'intent.mismatch_withdrawn' AND later.intent_id = events.intent_id
            AND later.version > events.version
            AND ${of('data.landing.hash', 'later.event')} = ${of('data.landing.hash', 'events.event')}
            AND ${of('data.landing.transfer.index', 'later.event')} =
              ${of('data.landing.transfer.index', 'events.event')})
      WINDOW ${OF_PLACE}
      -- tx_signature is a column of the events: that of the intent.
      QUALIFY row_number() OVER (
        PARTITION BY intent_id, paid_by, place ORDER BY type = 'confirmation_restored', version DESC) = 1
    ), ends AS (
      SELECT intent_id,
        coalesce(${of('data.hash')}, ${of('data.landing.hash')}) AS paid_by,
        max(version) FILTER (${LOST}) AS lost,
        max(version) FILTER (type = 'confirmation_restored') AS restored,
        max("at") FILTER (type = 'intent.finalized') AS finalized_at
      FROM events
      WHERE ${LOST} OR type IN ('confirmation_restored', 'intent.finalized')
      GROUP BY ALL
    ), deposited AS (
      SELECT deposit_id, account_id, livemode, chain, tx_signature AS paid_by, transfer_index FROM deposits
    )
    SELECT landed.intent_id, landed.account_id, landed.livemode, landed.chain,
      -- A simulated payment has no transfer.
      CASE WHEN coalesce(${of('data.landing.transfer.tokenAddress', 'now')} =
        ${of('intent.tokenAddress', 'now')}, true) THEN landed.token END AS token,
      CASE type
        WHEN 'intent.extra_payment' THEN 'extra'
        WHEN 'extra_payment_observed' THEN 'extra'
        WHEN 'intent.mismatched_payment' THEN 'mismatched'
        ELSE CASE WHEN ${of('data.late', 'landed.event')} IS NULL THEN 'requested' ELSE 'late' END
      END AS kind,
      CASE
        WHEN ends.lost > greatest(landed.version, coalesce(ends.restored, 0)) THEN 'lost'
        WHEN ends.finalized_at IS NOT NULL AND place = 'settles' THEN 'finalized'
        ELSE 'confirmed'
      END AS status,
      -- All others have exactly the amount that is asked for, or say which.
      try_cast(CASE type
        WHEN 'intent.mismatched_payment' THEN ${of('data.amount', 'now')}
        ELSE coalesce(${of('data.amount', 'now')}, ${of('intent.amount', 'now')})
      END AS DECIMAL(38, 18)) AS amount,
      try_cast(${of('data.landing.transfer.amount', 'now')} AS DECIMAL(38, 0)) AS base_units,
      ${of('data.landing.transfer.from', 'now')} AS sender,
      ${of('data.landing.transfer.to', 'now')} AS recipient,
      ${of('data.landing.transfer.tokenAddress', 'now')} AS token_address,
      paid_by AS tx_signature, landed."at" AS confirmed_at, ends.finalized_at,
      coalesce(${of('data.simulated', 'landed.event')}::BOOLEAN, false) AS simulated,
      ${of('intent.refundOf', 'landed.event')} AS refund_of,
      coalesce(recipient = ${of('intent.requestor', 'landed.event')}, true) AS to_requestor,
      transfer_index, coalesce(${of('data.claimed', 'landed.event')}::BOOLEAN, false) AS claimed, deposit_id
    FROM landed LEFT JOIN ends USING (intent_id, paid_by)
    LEFT JOIN deposited USING (account_id, livemode, chain, paid_by, transfer_index)
    WHERE NOT settles_now AND (status = 'lost' OR NOT has_moved)
    QUALIFY NOT claimed OR NOT bool_or(NOT claimed AND status <> 'lost') OVER (
      PARTITION BY landed.account_id, landed.livemode, landed.chain, landed.paid_by, transfer_index)`,
  // Two rows for each transfer on the chain: one wallet has less, another one more; and two for the fee of a
  // transaction, which the network has. What a reorganization undid is booked back. A transfer counts once, also where
  // two intents have it: a refund that was paid late, and its original; where two accounts have it as a deposit,
  // because both name the wallet; and where a deposit pays an intent after all.
  journal: `
    WITH landed AS (
      SELECT *, ${of('data.landing.hash')} AS paid_by, ${TOLD}, ${NOW},
        try_cast(${of('data.landing.transfer.amount')} AS HUGEINT) AS landed_units,
        arg_max(landed_units, version) OVER of_place AS units
      FROM events
      WHERE type IN ('intent.confirmed', 'confirmation_restored', 'intent.extra_payment', 'intent.mismatched_payment',
          'extra_payment_observed', 'mismatched_payment_observed')
        AND landed_units IS NOT NULL
      WINDOW ${OF_PLACE}
    ), lost AS (
      SELECT intent_id, coalesce(${of('data.hash')}, ${of('data.landing.hash')}) AS paid_by,
        max(version) AS version, max("at") AS "at"
      FROM events WHERE ${LOST} GROUP BY ALL
    ), last AS (
      -- Where a transaction landed again after its loss, its earlier landing is none; it may have another place now.
      SELECT landed.*, lost."at" AS lost_at FROM landed
      LEFT JOIN lost ON lost.intent_id = landed.intent_id AND lost.paid_by = landed.paid_by
        AND lost.version > landed.version
      WHERE NOT has_moved AND (lost.version IS NULL OR NOT EXISTS (
        FROM landed again WHERE again.intent_id = landed.intent_id AND again.paid_by = landed.paid_by
          AND again.version > lost.version))
      QUALIFY row_number() OVER (
        PARTITION BY landed.chain, landed.paid_by, transfer_index
        ORDER BY type = 'intent.confirmed' DESC, landed.version DESC
      ) = 1
    ), transfers AS (
      SELECT "at", lost_at, intent_id, account_id, livemode, chain, paid_by, transfer_index, units,
        ${of('data.landing.transfer.from', 'now')} AS sender,
        ${of('data.landing.transfer.to', 'now')} AS recipient,
        ${of('data.landing.transfer.tokenAddress', 'now')} AS token_address,
        recipient = ${of('intent.requestor')} AS to_requestor,
        CASE WHEN token_address = ${of('intent.tokenAddress')} THEN token END AS symbol,
        try_cast(CASE type
          WHEN 'intent.mismatched_payment' THEN ${of('data.amount', 'now')}
          WHEN 'mismatched_payment_observed' THEN NULL
          ELSE coalesce(${of('data.amount', 'now')}, ${of('intent.amount', 'now')})
        END AS DECIMAL(38, 18)) AS tokens,
        ${of('intent.refundOf')} IS NOT NULL AS is_refund
      FROM last
    ), fees AS (
      -- A transaction has one fee, whatever it pays: that of its last landing.
      SELECT landed."at", landed.intent_id, landed.account_id, landed.livemode, chain, paid_by,
        ${of('data.landing.fee.payer')} AS wallet,
        ${of('data.landing.fee.tokenAddress')} AS fee_token,
        try_cast(${of('data.landing.fee.amount')} AS DECIMAL(20, 0))::HUGEINT AS fee,
        fee::DECIMAL(20, 0) * ${FEE_UNIT} AS fee_amount,
        CASE WHEN fee_token = ${of('intent.tokenAddress')} THEN token
          WHEN fee_token IS NULL THEN CASE WHEN chain LIKE 'solana:%' THEN 'SOL' ELSE 'ETH' END
        END AS fee_symbol,
        CASE wallet WHEN transfers.sender THEN CASE WHEN is_refund THEN 'requestor' ELSE 'payer' END
          WHEN transfers.recipient THEN CASE WHEN is_refund THEN 'payer' ELSE 'requestor' END
          ELSE 'sponsor' END AS fee_account,
        -- It is undone where everything that its transaction paid is.
        CASE WHEN bool_and(transfers.lost_at IS NOT NULL) OVER of_transaction
          THEN max(transfers.lost_at) OVER of_transaction END AS fee_lost_at
      FROM landed JOIN transfers USING (chain, paid_by)
      WHERE fee IS NOT NULL
      WINDOW of_transaction AS (PARTITION BY chain, paid_by)
      QUALIFY row_number() OVER (
        PARTITION BY chain, paid_by
        ORDER BY landed."at" DESC, landed.version DESC, wallet = transfers.sender DESC, transfers.transfer_index) = 1
    ), booked AS (
      SELECT * REPLACE (CASE WHEN sign = 1 THEN "at" ELSE lost_at END AS "at"),
        CASE WHEN sign = -1 THEN 'reversal' WHEN is_refund THEN 'refund' ELSE 'payment' END AS entry
      FROM transfers, (VALUES (1), (-1)) AS signs (sign) WHERE sign = 1 OR lost_at IS NOT NULL
    ), deposited AS (
      SELECT * FROM deposits
      WHERE base_units IS NOT NULL AND NOT EXISTS (
        FROM transfers WHERE transfers.chain = deposits.chain AND transfers.paid_by = deposits.tx_signature
          AND transfers.transfer_index = deposits.transfer_index AND transfers.lost_at IS NULL)
      QUALIFY row_number() OVER (
        PARTITION BY chain, tx_signature, transfer_index ORDER BY undone_at IS NOT NULL, received_at, deposit_id) = 1
    )
    SELECT "at", entry,
      CASE WHEN side = 1 AND NOT to_requestor THEN 'other'
        WHEN is_refund = (side = -1) THEN 'requestor' ELSE 'payer' END AS account,
      CASE side WHEN -1 THEN sender ELSE recipient END AS wallet,
      side * sign * units AS base_units, side * sign * tokens AS amount,
      chain, symbol AS token, token_address, paid_by AS tx_signature, transfer_index, intent_id, account_id, livemode,
      NULL AS deposit_id
    FROM booked, (VALUES (-1), (1)) AS sides (side)
    UNION ALL
    SELECT CASE sign WHEN 1 THEN received_at ELSE undone_at END, CASE sign WHEN 1 THEN 'deposit' ELSE 'reversal' END,
      CASE side WHEN -1 THEN 'payer' ELSE 'requestor' END, CASE side WHEN -1 THEN sender ELSE recipient END,
      side * sign * base_units, side * sign * amount, chain, token, token_address, tx_signature, transfer_index,
      NULL, account_id, livemode, deposit_id
    FROM deposited, (VALUES (-1), (1)) AS sides (side), (VALUES (1), (-1)) AS signs (sign)
    WHERE sign = 1 OR undone_at IS NOT NULL
    UNION ALL
    SELECT CASE sign WHEN 1 THEN "at" ELSE fee_lost_at END, CASE sign WHEN 1 THEN 'fee' ELSE 'reversal' END,
      CASE side WHEN -1 THEN fee_account ELSE 'network' END, CASE side WHEN -1 THEN wallet END,
      side * sign * fee, side * sign * fee_amount, chain, fee_symbol, fee_token, paid_by, NULL,
      intent_id, account_id, livemode, NULL
    FROM fees, (VALUES (-1), (1)) AS sides (side), (VALUES (1), (-1)) AS signs (sign)
    WHERE sign = 1 OR fee_lost_at IS NOT NULL`,
};
