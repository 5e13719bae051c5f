import { findNetwork } from '@pf/chains/networks';
import { overpayment, unexpectedPayment } from '@pf/contracts';
import { type Attention, ATTENTION_ADVICE, CLAIMED_ADVICE } from '@pf/contracts/dashboard';
import { type AttentionRow, decodeDepositState, decodeStateOrNull, type LikelyIntentRow } from '@pf/database';
import { type Deposit, depositView, formatAmount } from '@pf/domain';
import { z } from 'zod';

type Payment = NonNullable<Attention['payment']>;

/** What is read of the body of an event: newer code may have added to it. */
const reported = z.object({
  data: z.object({ intent: z.object({ chain: z.string() }), payment: unexpectedPayment.strip() }),
});

const overpaid = z.object({
  data: z.object({
    intent: z.object({
      chain: z.string(),
      token: z.string(),
      tokenAddress: z.string(),
      requestor: z.string(),
      fulfiller: z.string().nullable(),
    }),
    overpayment: overpayment.strip(),
  }),
});

export const depositOf = ({ deposit }: AttentionRow): Deposit | null =>
  deposit === null ? null : decodeDepositState(deposit);

/**
 * A row as the API shows it, with what to do.
 * @param deposit that of the row, if it is one
 * @param likely the intents that deposits may have been meant for
 */
export const shownAttention = (
  row: AttentionRow,
  deposit: Deposit | null = null,
  likely: readonly LikelyIntentRow[] = [],
): Attention => {
  const { kind, id, at, intentId, endpointId, url, deliveryId, eventType, reason } = row;
  const { doneAt, doneBy, doneByName } = row;
  const payment =
    row.event === null ? fromSanctioned(row) : kind === 'overpaid' ? surplus(row.event) : reportedPayment(row.event);
  return {
    kind,
    id,
    at: at.toISOString(),
    intentId,
    payment,
    ...(deposit === null ? NO_DEPOSIT : shownDeposit(deposit, likely)),
    endpoint: endpointId === null || url === null ? null : { id: endpointId, url },
    delivery: deliveryId === null || eventType === null ? null : { id: deliveryId, eventType },
    reason,
    advice: payment?.claimed === true ? CLAIMED_ADVICE : ATTENTION_ADVICE[kind],
    done:
      doneAt === null || doneBy === null ? null : { at: doneAt.toISOString(), by: { id: doneBy, name: doneByName } },
  };
};

const NO_DEPOSIT: Pick<Attention, 'deposit' | 'likelyIntents'> = { deposit: null, likelyIntents: [] };

function shownDeposit(deposit: Deposit, likely: readonly LikelyIntentRow[]): typeof NO_DEPOSIT {
  const { token, amount: arrived } = deposit.arrival;
  // Intents ask for tokens of the registry alone, so only a deposit of one has any.
  if (token === null) return { deposit: depositView(deposit), likelyIntents: [] };
  const own = likely.filter(({ depositId }) => depositId === deposit.id);
  const likelyIntents = own.map(({ id, status, amount, createdAt }) => {
    const missing = BigInt(amount) - arrived;
    return {
      id,
      status,
      amount: formatAmount(BigInt(amount), token.decimals),
      missing: missing === 0n ? null : formatAmount(missing, token.decimals),
      createdAt: createdAt.toISOString(),
    };
  });
  return { deposit: depositView(deposit), likelyIntents };
}

/** Null if newer code wrote it in another form. */
function reportedPayment(body: string): Payment | null {
  const parsed = reported.safeParse(JSON.parse(body));
  if (!parsed.success) return null;
  const { intent, payment } = parsed.data.data;
  const { txSignature, sender, recipient, tokenAddress, amountBaseUnits, differs, late } = payment;
  const token = tokenOf(intent.chain, tokenAddress);
  return {
    chain: intent.chain,
    txSignature,
    sender,
    recipient,
    token: token?.symbol ?? null,
    tokenAddress,
    // The event has no amount where the token is another one, whose decimals the intent does not know.
    amount: payment.amount ?? (token ? formatAmount(BigInt(amountBaseUnits), token.decimals) : null),
    differs,
    late,
    claimed: payment.claimed === true,
  };
}

/** What arrived beyond the amount. Null if newer code wrote it in another form. */
function surplus(body: string): Payment | null {
  const parsed = overpaid.safeParse(JSON.parse(body));
  if (!parsed.success) return null;
  const { intent, overpayment: more } = parsed.data.data;
  const { chain, token, tokenAddress, requestor, fulfiller } = intent;
  return {
    chain,
    txSignature: more.txSignature,
    // The token itself stands for the sender that a mint does not have.
    sender: fulfiller ?? tokenAddress,
    recipient: requestor,
    token,
    tokenAddress,
    amount: more.amount,
    differs: [],
    late: null,
    claimed: false,
  };
}

/** The screening keeps only the transaction: what it paid is known if the intent counts it as a payment. */
function fromSanctioned({ chain, hash, sender, state }: AttentionRow): Payment | null {
  if (chain === null || hash === null || sender === null) return null;
  const intent = state === null ? null : decodeStateOrNull(state);
  const landings = intent === null ? [] : [...(intent.settlement ? [intent.settlement] : []), ...intent.extraPayments];
  const transfer = landings.find((landing) => landing.hash === hash)?.transfer;
  const token = transfer && tokenOf(chain, transfer.tokenAddress);
  return {
    chain,
    txSignature: hash,
    sender,
    recipient: transfer?.to ?? null,
    token: token?.symbol ?? null,
    tokenAddress: transfer?.tokenAddress ?? null,
    amount: token && transfer ? formatAmount(transfer.amount, token.decimals) : null,
    differs: [],
    late: null,
    claimed: false,
  };
}

const tokenOf = (chain: string, address: string) =>
  findNetwork(chain)?.tokens.find((token) => token.address === address);
