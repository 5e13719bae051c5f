import { useInfiniteQuery } from '@tanstack/react-query';
import { Link2, Plus } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import type { PaymentLink } from '../../api/types.ts';
import { offerLabel, tokensOf } from '../../format/links.ts';
import { amount, short } from '../../format/money.ts';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Purpose } from '../../ui/purpose.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { linksKey } from './keys.ts';
import { NewLink } from './new-link.tsx';
import { LINK_STATES } from './states.ts';

const PAGE = 25;

export default function Links() {
  const here = useHere();
  const live = useLive();
  const [isCreating, setCreating] = useState(false);
  const query = useInfiniteQuery({
    queryKey: linksKey(here),
    queryFn: ({ pageParam, signal }) =>
      payments(here)('get', '/payment-links', {
        query: { limit: String(PAGE), ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    ...live,
  });
  const create = hasRole(here, DEVELOPERS) && (
    <Button look="main" icon={<Plus size={16} aria-hidden />} onPress={() => setCreating(true)}>
      New payment link
    </Button>
  );
  return (
    <Page
      title="Payment links"
      about="One amount on several networks: the payer chooses where to pay. The first payment closes the others."
      actions={create}
    >
      <RoleNote roles={DEVELOPERS} can="create payment links" />
      <Loaded query={query}>
        {({ pages }) => {
          const rows = pages.flatMap(({ paymentLinks }) => paymentLinks);
          return rows.length > 0 ? (
            <List rows={rows} />
          ) : (
            <Empty
              title={`No ${here.mode} payment links yet`}
              icon={<Link2 size={28} aria-hidden />}
              actions={create || undefined}
            >
              A link offers one amount on the networks that you choose. Send it to your customer, or show its code.
            </Empty>
          );
        }}
      </Loaded>
      <More query={query} />
      {isCreating && <NewLink onClose={() => setCreating(false)} />}
    </Page>
  );
}

/** Payment links, one a row. */
const List = ({ rows }: { readonly rows: readonly PaymentLink[] }) => (
  <Table
    label="Payment links"
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      {
        title: 'Amount',
        cell: (link) => (
          <Link href={`/payment-links/${link.id}`} className="row-link number nowrap">
            {amount(link.amount)} <span className="muted">{tokensOf(link)}</span>
          </Link>
        ),
      },
      { title: 'State', cell: ({ state }) => <Badge tone={LINK_STATES[state].tone}>{LINK_STATES[state].label}</Badge> },
      { title: 'What for', from: 'phone', cell: (link) => <Purpose of={link} /> },
      { title: 'Offers', from: 'tablet', cell: ({ offers }) => <Offers offers={offers} /> },
      {
        title: 'Paid by',
        from: 'tablet',
        cell: ({ paidBy, state }) =>
          paidBy === null ? (
            <span className="muted">{state === 'open' ? 'None yet' : 'None'}</span>
          ) : (
            <code>{short(paidBy)}</code>
          ),
      },
      { title: 'Created', end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    ]}
  />
);

function Offers({ offers }: Pick<PaymentLink, 'offers'>) {
  const [first, ...rest] = offers.map(offerLabel);
  return (
    <span className="clipped" title={offers.map(offerLabel).join(', ')}>
      {first}
      {rest.length > 0 && <span className="muted"> +{rest.length}</span>}
    </span>
  );
}
