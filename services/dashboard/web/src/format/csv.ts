import type { Payment } from '../api/types.ts';

/** The columns of an export, in their order. */
const COLUMNS = {
  id: ({ id }) => id,
  created: ({ createdAt }) => createdAt,
  state: ({ state }) => state,
  amount: ({ amount }) => amount,
  token: ({ token }) => token,
  network: ({ chain }) => chain,
  direction: ({ direction }) => direction,
  to: ({ requestor }) => requestor,
  from: ({ fulfiller }) => fulfiller ?? '',
  transaction: ({ txSignature }) => txSignature ?? '',
  reference: ({ reference }) => reference,
  confirmed: ({ confirmedAt }) => confirmedAt ?? '',
  finalized: ({ finalizedAt }) => finalizedAt ?? '',
  refund_of: ({ refundOf }) => refundOf ?? '',
  refunded_by: ({ refundedBy }) => refundedBy ?? '',
  metadata: ({ metadata }) => (metadata === null ? '' : JSON.stringify(metadata)),
} as const satisfies Readonly<Record<string, (payment: Payment) => string>>;

/** Spreadsheets run what begins like a formula. */
const FORMULA = /^[=+\-@\t\r]/;

const cell = (text: string): string => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;

/** Payments as comma-separated values (RFC 4180), with a line of titles. */
export const csvOf = (payments: readonly Payment[]): string =>
  [
    Object.keys(COLUMNS).map(cell),
    ...payments.map((payment) => Object.values(COLUMNS).map((read) => cell(read(payment)))),
  ]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('');
