/** The JSON of the event: `of('intent.chain')` is a text of it. */
const of = (path: string, from = 'event'): string => `(${from} ->> '$.${path}')`;
const at = (path: string): string => `${of(path)}::TIMESTAMP`;

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
  // One row for each transfer of money that was credited. Of one that was reported again, the last report counts.
  payments: `
    WITH landed AS (
      SELECT intent_id, version, "at", account_id, livemode, chain, token, type, event,
        coalesce(${of('data.landing.hash')}, ${of('data.hash')}) AS tx_signature,
        coalesce(${of('data.landing.transfer.index')}, '') AS transfer_index
      FROM events
      WHERE type IN ('intent.confirmed', 'intent.extra_payment', 'intent.mismatched_payment')
      QUALIFY row_number() OVER (PARTITION BY intent_id, tx_signature, transfer_index ORDER BY version DESC) = 1
    ), ends AS (
      SELECT intent_id,
        coalesce(${of('data.hash')}, ${of('data.landing.hash')}) AS tx_signature,
        max(version) FILTER (type = 'confirmation_lost') AS lost,
        max(version) FILTER (type = 'confirmation_restored') AS restored,
        max("at") FILTER (type = 'intent.finalized') AS finalized_at
      FROM events WHERE type IN ('confirmation_lost', 'confirmation_restored', 'intent.finalized')
      GROUP BY ALL
    )
    SELECT landed.intent_id, landed.account_id, landed.livemode, landed.chain, landed.token,
      CASE type
        WHEN 'intent.extra_payment' THEN 'extra'
        WHEN 'intent.mismatched_payment' THEN 'mismatched'
        ELSE CASE WHEN ${of('data.late', 'landed.event')} IS NULL THEN 'requested' ELSE 'late' END
      END AS kind,
      CASE
        WHEN ends.lost > greatest(landed.version, coalesce(ends.restored, 0)) THEN 'lost'
        WHEN ends.finalized_at IS NOT NULL AND type = 'intent.confirmed' THEN 'finalized'
        ELSE 'confirmed'
      END AS status,
      -- All others have exactly the amount that is asked for.
      try_cast(CASE type
        WHEN 'intent.mismatched_payment' THEN ${of('data.amount', 'landed.event')}
        ELSE ${of('intent.amount', 'landed.event')}
      END AS DECIMAL(38, 18)) AS amount,
      try_cast(${of('data.landing.transfer.amount', 'landed.event')} AS DECIMAL(38, 0)) AS base_units,
      ${of('data.landing.transfer.from', 'landed.event')} AS sender,
      ${of('data.landing.transfer.to', 'landed.event')} AS recipient,
      ${of('data.landing.transfer.tokenAddress', 'landed.event')} AS token_address,
      landed.tx_signature, landed."at" AS confirmed_at, ends.finalized_at,
      coalesce(${of('data.simulated', 'landed.event')}::BOOLEAN, false) AS simulated
    FROM landed LEFT JOIN ends USING (intent_id, tx_signature)`,
  // Two rows for each transfer on the chain: a wallet has less, another one more. What a reorganization undid is booked
  // back. A transfer counts once, also where two intents have it: a refund that was paid late, and its original.
  journal: `
    WITH transfers AS (
      SELECT intent_id, version, "at", account_id, livemode, chain,
        ${of('data.landing.hash')} AS tx_signature,
        ${of('data.landing.transfer.index')} AS transfer_index,
        try_cast(${of('data.landing.transfer.amount')} AS HUGEINT) AS units,
        ${of('data.landing.transfer.from')} AS sender,
        ${of('data.landing.transfer.to')} AS recipient,
        ${of('data.landing.transfer.tokenAddress')} AS token_address,
        CASE WHEN token_address = ${of('intent.tokenAddress')} THEN token END AS token,
        try_cast(CASE type
          WHEN 'intent.mismatched_payment' THEN ${of('data.amount')}
          WHEN 'mismatched_payment_observed' THEN NULL
          ELSE ${of('intent.amount')}
        END AS DECIMAL(38, 18)) AS tokens,
        ${of('intent.refundOf')} IS NOT NULL AS is_refund
      FROM events
      WHERE type IN ('intent.confirmed', 'intent.extra_payment', 'intent.mismatched_payment',
          'extra_payment_observed', 'mismatched_payment_observed')
        AND units IS NOT NULL
      QUALIFY row_number() OVER (
        PARTITION BY chain, tx_signature, transfer_index ORDER BY type = 'intent.confirmed' DESC, version DESC
      ) = 1
    ), undone AS (
      SELECT intent_id, coalesce(${of('data.hash')}, ${of('data.landing.hash')}) AS tx_signature,
        max(version) AS version, arg_max("at", version) AS "at"
      FROM events WHERE type IN ('confirmation_lost', 'confirmation_restored', 'intent.confirmed')
      GROUP BY ALL HAVING arg_max(type, version) = 'confirmation_lost'
    ), booked AS (
      SELECT * EXCLUDE (version, is_refund), CASE WHEN is_refund THEN 'refund' ELSE 'payment' END AS entry,
        CASE WHEN is_refund THEN 'requestor' ELSE 'payer' END AS giver,
        CASE WHEN is_refund THEN 'payer' ELSE 'requestor' END AS taker
      FROM transfers
      UNION ALL BY NAME
      SELECT transfers.* EXCLUDE (version, is_refund, "at", units, tokens), undone."at",
        -units AS units, -tokens AS tokens, 'reversal' AS entry,
        CASE WHEN is_refund THEN 'requestor' ELSE 'payer' END AS giver,
        CASE WHEN is_refund THEN 'payer' ELSE 'requestor' END AS taker
      FROM transfers JOIN undone USING (intent_id, tx_signature)
    )
    SELECT "at", entry, giver AS account, sender AS wallet, -units AS base_units, -tokens AS amount,
      chain, token, token_address, tx_signature, transfer_index, intent_id, account_id, livemode FROM booked
    UNION ALL
    SELECT "at", entry, taker, recipient, units, tokens,
      chain, token, token_address, tx_signature, transfer_index, intent_id, account_id, livemode FROM booked`,
};
