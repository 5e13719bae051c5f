import { useState } from 'react';
import type { Delivery } from '../../api/types.ts';
import { DELIVERY_STATUS, statusOf } from '../../format/deliveries.ts';
import { Badge } from '../../ui/badge.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { DeliveryDialog } from './delivery.tsx';

/** Deliveries, one a row, which opens. */
export function DeliveryList({
  rows,
  onChanged,
}: {
  readonly rows: readonly Delivery[];
  readonly onChanged: () => void;
}) {
  const [opened, setOpened] = useState<Delivery | null>(null);
  return (
    <>
      <Table
        label="Deliveries"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            title: 'Event',
            cell: (delivery) => (
              <button type="button" className="row-link" onClick={() => setOpened(delivery)}>
                {delivery.type}
              </button>
            ),
          },
          {
            title: 'Status',
            cell: (delivery) => (
              <Badge tone={DELIVERY_STATUS[statusOf(delivery)].tone}>{DELIVERY_STATUS[statusOf(delivery)].label}</Badge>
            ),
          },
          { title: 'URL', from: 'phone', cell: ({ url }) => <span className="clipped">{url}</span> },
          {
            title: 'Response',
            from: 'tablet',
            end: true,
            cell: ({ responseStatus }) => responseStatus ?? <span className="muted">None</span>,
          },
          { title: 'Attempts', from: 'tablet', end: true, cell: ({ attemptCount }) => attemptCount },
          {
            title: 'Last',
            end: true,
            cell: ({ lastAttemptedAt }) =>
              lastAttemptedAt === null ? <span className="muted">Not yet</span> : <Time at={lastAttemptedAt} />,
          },
        ]}
      />
      {opened && (
        <DeliveryDialog
          delivery={rows.find(({ id }) => id === opened.id) ?? opened}
          onChanged={onChanged}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  );
}
