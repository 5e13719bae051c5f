import { explorerPage } from '@pf/chains/networks';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { eventsKey, paymentKey } from '../../api/stream.ts';
import type { Delivery, Payment, PaymentEvent } from '../../api/types.ts';
import { DELIVERY_STATUS, statusOf } from '../../format/deliveries.ts';
import { amount, short } from '../../format/money.ts';
import { EVENTS, TERMS } from '../../format/states.ts';
import { useHere } from '../../shell/place.ts';
import { Badge } from '../../ui/badge.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Section } from '../../ui/page.tsx';
import { Moment } from '../../ui/time.tsx';

/** What has happened to a payment, newest last, with the webhooks that told of it. */
export function Timeline({ payment }: { readonly payment: Payment }) {
  const here = useHere();
  const live = useLive();
  const events = useQuery({
    queryKey: eventsKey(here, payment.id),
    queryFn: ({ signal }) => payments(here)('get', '/intents/{id}/events', { params: { id: payment.id }, signal }),
  });
  const deliveries = useQuery({
    queryKey: [...paymentKey(here, payment.id), 'deliveries'],
    queryFn: ({ signal }) =>
      payments(here)('get', '/webhooks', { query: { intentId: payment.id, limit: '100' }, signal }),
    ...live,
  });
  return (
    <Section title="Timeline">
      <Loaded query={events}>
        {(data) => (
          <ol className="timeline">
            {data.events.map((event, index) => (
              <Entry
                key={event.eventId}
                event={event}
                before={data.events[index - 1]}
                deliveries={(deliveries.data?.deliveries ?? []).filter(({ eventId }) => eventId === event.eventId)}
              />
            ))}
            {data.hasMore && <li className="muted">There are more events than are shown here.</li>}
          </ol>
        )}
      </Loaded>
    </Section>
  );
}

function Entry({
  event,
  before,
  deliveries,
}: {
  readonly event: PaymentEvent;
  readonly before: PaymentEvent | undefined;
  readonly deliveries: readonly Delivery[];
}) {
  const { label, tone, payer } = EVENTS[event.type];
  const { payment, claim, overpayment, intent } = event.data;
  return (
    <li className={tone}>
      <div className="row apart">
        <strong>{label}</strong>
        <span className="muted small">
          <Moment at={event.createdAt} />
        </span>
      </div>
      {claim && (
        <p className="small">
          Payers say that it was for {new Intl.ListFormat('en').format(claim.intentIds)}.{' '}
          <Transaction chain={intent.chain} hash={claim.txSignature} />
        </p>
      )}
      {overpayment && (
        <p className="small">
          {amount(overpayment.amount)} {intent.token} more than was asked for.
        </p>
      )}
      {payment && <Odd payment={payment} chain={intent.chain} token={intent.token} />}
      {intent.txSignature !== null && intent.txSignature !== before?.data.intent.txSignature && (
        <p className="small">
          <Transaction chain={intent.chain} hash={intent.txSignature} />
        </p>
      )}
      {payer !== null && <p className="muted small">The payer saw: {payer}</p>}
      {deliveries.map((delivery) => (
        <p key={delivery.id} className="row small">
          <Badge tone={DELIVERY_STATUS[statusOf(delivery)].tone}>{DELIVERY_STATUS[statusOf(delivery)].label}</Badge>
          <Link href={`/developers/deliveries?eventId=${event.eventId}`} className="wrap">
            {delivery.url}
          </Link>
        </p>
      ))}
    </li>
  );
}

function Transaction({ chain, hash }: { readonly chain: string; readonly hash: string }) {
  const explorer = explorerPage(chain, hash);
  const label = <code title={hash}>{short(hash)}</code>;
  return (
    <>
      Transaction{' '}
      {explorer === null ? (
        label
      ) : (
        <a href={explorer} target="_blank" rel="noreferrer">
          {label}
        </a>
      )}
    </>
  );
}

/** A payment that was not what the shop asked for. */
function Odd({
  payment,
  chain,
  token,
}: {
  readonly payment: NonNullable<PaymentEvent['data']['payment']>;
  readonly chain: string;
  readonly token: string;
}) {
  const differs = payment.differs.map((term) => TERMS[term] ?? term);
  return (
    <p className="small">
      {payment.amount === null
        ? `${payment.amountBaseUnits} units of another token`
        : `${amount(payment.amount)} ${token}`}{' '}
      from <code title={payment.sender}>{short(payment.sender)}</code>
      {differs.length > 0 && `, with ${new Intl.ListFormat('en').format(differs)}`}
      {payment.late !== null && `, after it was ${payment.late}`}
      {payment.claimed && ', which a payer says was for this'}
      {'. '}
      <Transaction chain={chain} hash={payment.txSignature} />
    </p>
  );
}
