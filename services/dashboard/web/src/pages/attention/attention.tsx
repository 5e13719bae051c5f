import { useInfiniteQuery } from '@tanstack/react-query';
import { CircleCheck } from 'lucide-react';
import { Link } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import type { Of } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { explorerLink, networkLabel } from '../../format/networks.ts';
import { TERMS } from '../../format/states.ts';
import { useHere } from '../../shell/place.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

type Item = Of<'listAttention'>['attention'][number];

interface Kind {
  readonly label: string;
  readonly tone: Tone;
  /** What to do. */
  readonly advice: string;
}
const KINDS: Readonly<Record<Item['kind'], Kind>> = {
  mismatched_payment: {
    label: 'Wrong payment',
    tone: 'warn',
    advice:
      'It is not what you have asked for, so the payment does not count as paid. Send the money back to its sender, ' +
      'or settle the difference with the payer.',
  },
  extra_payment: {
    label: 'Paid twice',
    tone: 'warn',
    advice: 'It was paid before. Send this money back to its sender.',
  },
  late_payment: {
    label: 'Paid late',
    tone: 'warn',
    advice: 'It counts as paid now, though its time was over. Deliver after all, or refund it.',
  },
  sanctioned_sender: {
    label: 'Sanctioned sender',
    tone: 'bad',
    advice:
      'Its sender is on a sanctions list. Do not deliver, and do not send the money back before you have asked those ' +
      'who are responsible for compliance.',
  },
  endpoint_paused: {
    label: 'Webhook paused',
    tone: 'plain',
    advice: 'Its deliveries wait. Resume it when its receiver can take them.',
  },
  endpoint_disabled: {
    label: 'Webhook disabled',
    tone: 'bad',
    advice: 'It gets nothing. Repair its receiver, then enable it and have sent what it has missed.',
  },
  failed_delivery: {
    label: 'Webhook not delivered',
    tone: 'bad',
    advice: 'It is not tried again by itself. See why it failed, repair the receiver, then send it again.',
  },
};

export default function Attention() {
  const { accountId, mode } = useHere();
  const live = useLive();
  const query = useInfiniteQuery({
    queryKey: ['attention', accountId, mode],
    queryFn: ({ pageParam, signal }) =>
      dashboard('get', '/accounts/{accountId}/{mode}/attention', {
        params: { accountId, mode },
        query: pageParam === null ? {} : { cursor: pageParam },
        signal,
      }),
    ...BY_CURSOR,
    ...live,
  });
  return (
    <Page title="Needs attention" about="What a person has to decide or repair, and what can be done about it.">
      <Loaded query={query}>
        {({ pages }) => {
          const items = pages.flatMap(({ attention }) => attention);
          return items.length === 0 ? (
            <Empty title="All is well" icon={<CircleCheck size={28} aria-hidden />}>
              Wrong amounts, double payments, money that comes late and webhooks that fail appear here, each with what
              to do.
            </Empty>
          ) : (
            <ul className="stack">
              {items.map((item) => (
                <Card key={`${item.kind} ${item.id}`} item={item} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      <More query={query} />
    </Page>
  );
}

function Card({ item: { kind, at, intentId, payment, endpoint, delivery, reason } }: { readonly item: Item }) {
  const { label, tone, advice } = KINDS[kind];
  const explorer = payment && explorerLink(payment.chain, payment.txSignature);
  return (
    <li className="card stack tight">
      <div className="row apart">
        <Badge tone={tone}>{label}</Badge>
        <span className="muted small">
          <Time at={at} />
        </span>
      </div>
      {payment && (
        <p>
          <strong className="number">
            {payment.amount === null ? 'An unknown amount' : `${amount(payment.amount)} ${payment.token ?? ''}`}
          </strong>{' '}
          on {networkLabel(payment.chain)} from <code title={payment.sender}>{short(payment.sender)}</code>
          {payment.differs.length > 0 &&
            `, with ${new Intl.ListFormat('en').format(payment.differs.map((term) => TERMS[term] ?? term))}`}
          {payment.late !== null && `, after the payment was ${payment.late}`}
        </p>
      )}
      {endpoint && <p className="wrap">{endpoint.url}</p>}
      {reason !== null && <p className="muted wrap">{reason}</p>}
      <p>{advice}</p>
      <div className="row small">
        {intentId !== null && <Link href={`/payments/${intentId}`}>Open the payment</Link>}
        {explorer && (
          <a href={explorer} target="_blank" rel="noreferrer">
            Transaction
          </a>
        )}
        {delivery && intentId !== null && (
          <Link href={`/developers/deliveries?intentId=${intentId}&type=${delivery.eventType}`}>See its attempts</Link>
        )}
        {endpoint && <Link href={`/developers/endpoints/${endpoint.id}`}>Open the webhook</Link>}
      </div>
    </li>
  );
}
