import { explorerPage } from '@pf/chains/networks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Check, CircleCheck, RotateCcw } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Of, Role } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { TERMS } from '../../format/states.ts';
import { hasRole, OWNERS, SUPPORT, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { useTask } from '../../ui/task.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

type Item = Of<'listAttention'>['attention'][number];

interface Kind {
  readonly label: string;
  readonly tone: Tone;
  /** What to do. */
  readonly advice: string;
  /** Who marks it as done. Without: it is done when it is repaired. */
  readonly doneBy?: readonly Role[];
}
const KINDS: Readonly<Record<Item['kind'], Kind>> = {
  mismatched_payment: {
    label: 'Wrong payment',
    tone: 'warn',
    advice:
      'It does not match what you requested, so the payment does not count as paid. Send the money back to its ' +
      'sender, or settle the difference with the payer.',
    doneBy: SUPPORT,
  },
  extra_payment: {
    label: 'Paid twice',
    tone: 'warn',
    advice: 'It was already paid. Send this money back to its sender.',
    doneBy: SUPPORT,
  },
  late_payment: {
    label: 'Paid late',
    tone: 'warn',
    advice: 'It counts as paid, although it had expired. Deliver, or refund it.',
    doneBy: SUPPORT,
  },
  sanctioned_sender: {
    label: 'Sanctioned sender',
    tone: 'bad',
    advice:
      'Its sender is on a sanctions list. Do not deliver, and do not send the money back before you have asked the ' +
      'people responsible for compliance.',
    doneBy: OWNERS,
  },
  endpoint_paused: {
    label: 'Webhook paused',
    tone: 'plain',
    advice: 'Its deliveries wait. Resume it when its receiver is ready for them.',
  },
  endpoint_disabled: {
    label: 'Webhook disabled',
    tone: 'bad',
    advice: 'It receives nothing. Fix its receiver, then enable it and replay what it has missed.',
  },
  failed_delivery: {
    label: 'Webhook not delivered',
    tone: 'bad',
    advice: 'It is not retried automatically. See why it failed, fix the receiver, then resend it.',
  },
};

export default function Attention() {
  const { accountId, mode } = useHere();
  const [search] = useSearchParams();
  const state = search.get('state') === 'done' ? 'done' : 'open';
  const live = useLive();
  const query = useInfiniteQuery({
    queryKey: ['attention', accountId, mode, state],
    queryFn: ({ pageParam, signal }) =>
      dashboard('get', '/accounts/{accountId}/{mode}/attention', {
        params: { accountId, mode },
        query: { state, ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    ...live,
  });
  return (
    <Page title="Needs attention" about="What a person has to decide or fix, and how.">
      <nav aria-label="Needs attention">
        <ul className="tabs">
          <Tab href="/attention" label="Open" isHere={state === 'open'} />
          <Tab href="/attention?state=done" label="Done" isHere={state === 'done'} />
        </ul>
      </nav>
      <RoleNote roles={SUPPORT} can="mark payments as done" />
      <Loaded query={query}>
        {({ pages }) => {
          const items = pages.flatMap(({ attention }) => attention);
          return items.length === 0 ? (
            <Nothing state={state} />
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

const Tab = ({ href, label, isHere }: { readonly href: string; readonly label: string; readonly isHere: boolean }) => (
  <li>
    <Link href={href} aria-current={isHere ? 'page' : undefined}>
      {label}
    </Link>
  </li>
);

const Nothing = ({ state }: { readonly state: 'open' | 'done' }) =>
  state === 'open' ? (
    <Empty title="All is well" icon={<CircleCheck size={28} aria-hidden />}>
      Wrong amounts, double payments, money that comes late and webhooks that fail appear here, each with what to do.
    </Empty>
  ) : (
    <Empty title="Nothing is marked as done" icon={<CircleCheck size={28} aria-hidden />}>
      Payments that a person has dealt with are here, with who has marked them and when. Webhooks leave the list when
      they are repaired.
    </Empty>
  );

function Card({ item }: { readonly item: Item }) {
  const { kind, at, intentId, payment, endpoint, delivery, reason } = item;
  const { label, tone, advice, doneBy } = KINDS[kind];
  const explorer = payment && explorerPage(payment.chain, payment.txSignature);
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
      {doneBy && <Mark item={item} label={label} doneBy={doneBy} />}
    </li>
  );
}

/** Whether a person has dealt with a payment: who has, and the way there and back. */
function Mark({
  item: { id, done },
  label,
  doneBy,
}: {
  readonly item: Item;
  readonly label: string;
  readonly doneBy: readonly Role[];
}) {
  const here = useHere();
  const { accountId, mode } = here;
  const method = done === null ? 'post' : 'delete';
  const [change, isChanging] = useTask(async () => {
    const params = { accountId, mode, itemId: id };
    await dashboard(method, '/accounts/{accountId}/{mode}/attention/{itemId}/done', { params });
    notify(done === null ? 'Marked as done. It is under Done now.' : 'Opened again. It is under Open now.');
    await queryClient.invalidateQueries({ queryKey: ['attention', accountId, mode] });
  });
  const mayChange = hasRole(here, doneBy);
  return (
    <div className="row apart">
      <span className="muted small">
        {done && (
          <>
            Done by {done.by.name ?? 'a former member'} <Time at={done.at} />
          </>
        )}
        {!done && !mayChange && hasRole(here, SUPPORT) && 'Only an owner marks it as done.'}
      </span>
      {mayChange && (
        <Button
          icon={done ? <RotateCcw size={16} aria-hidden /> : <Check size={16} aria-hidden />}
          aria-label={`${done ? 'Open again' : 'Mark as done'}: ${label}`}
          isPending={isChanging}
          onPress={() => change()}
        >
          {done ? 'Open again' : 'Mark as done'}
        </Button>
      )}
    </div>
  );
}
