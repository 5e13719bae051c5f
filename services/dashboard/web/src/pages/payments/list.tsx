import { Link } from 'wouter';
import type { Payment } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { STATES } from '../../format/states.ts';
import { Badge } from '../../ui/badge.tsx';
import { Purpose } from '../../ui/purpose.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** Payments, one a row. */
export const List = ({ rows }: { readonly rows: readonly Payment[] }) => (
  <Table
    label="Payments"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      {
        title: 'Amount',
        cell: (payment) => (
          <Link href={`/payments/${payment.id}`} className="row-link number nowrap">
            {amount(payment.amount)} <span className="muted">{payment.token}</span>
          </Link>
        ),
      },
      { title: 'State', cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge> },
      {
        title: 'What for',
        from: 'phone',
        cell: (payment) =>
          payment.refundOf === null ? (
            <Purpose of={payment} />
          ) : (
            <span className="nowrap">Refund of {short(payment.refundOf)}</span>
          ),
      },
      { title: 'Network', from: 'tablet', cell: ({ chain }) => <span className="nowrap">{networkLabel(chain)}</span> },
      {
        title: 'From',
        from: 'tablet',
        cell: ({ fulfiller }) =>
          fulfiller === null ? (
            <span className="muted">Anyone</span>
          ) : (
            <code title={fulfiller}>{short(fulfiller)}</code>
          ),
      },
      { title: 'Created', end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ]}
  />
);
