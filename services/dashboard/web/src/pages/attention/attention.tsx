import { useInfiniteQuery } from '@tanstack/react-query';
import { Check, CircleCheck, RotateCcw } from 'lucide-react';
import { Link, useSearchParams } from 'wouter';
import { dashboard, payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { BY_CURSOR } from '../../api/pages.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Of, Role } from '../../api/types.ts';
import { short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { TERMS } from '../../format/states.ts';
import { hasRole, OWNERS, SUPPORT, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty, Loaded, More } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { useTask } from '../../ui/task.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { DepositCard, UNKNOWN_MONEY } from './deposit-card.tsx';
import { Head, type Sort, Sum, Transaction } from './parts.tsx';

type Item = Of<'listAttention'>['attention'][number];

interface Kind extends Sort {
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
  overpaid: {
    label: 'Paid too much',
    tone: 'warn',
    advice:
      'So much more arrived than you requested. Keep it if the payer meant it, such as a tip. Else refund the ' +
      'payment, and lower the refund to this amount before you send it.',
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
  deposit: UNKNOWN_MONEY,
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

/** Of a payment of which only the payer says what it was for. */
const CLAIMED =
  'Its payer says that it was for this payment, and nothing shows it. If it is listed as unknown money as well, it ' +
  'is the same money: assign it there. Else deliver, or send it back to its sender, once.';

const STATES = ['open', 'done', 'assigned', 'ignored'] as const;

export default function Attention() {
  const [search] = useSearchParams();
  const state = STATES.find((one) => one === search.get('state')) ?? 'open';
  return (
    <Page title="Needs attention" about="What a person has to decide or fix, and how.">
      <nav aria-label="Needs attention">
        <ul className="tabs">
          <Tab href="/attention" label="Open" isHere={state === 'open'} />
          <Tab href="/attention?state=done" label="Done" isHere={state === 'done'} />
          <Tab href="/attention?state=assigned" label="Assigned" isHere={state === 'assigned'} />
          <Tab href="/attention?state=ignored" label="Ignored" isHere={state === 'ignored'} />
        </ul>
      </nav>
      <RoleNote roles={SUPPORT} can="mark payments as done, and decide what money is for" />
      {state === 'assigned' || state === 'ignored' ? (
        <Decided key={state} state={state} />
      ) : (
        <Items key={state} state={state} />
      )}
    </Page>
  );
}

function Items({ state }: { readonly state: 'open' | 'done' }) {
  const { accountId, mode } = useHere();
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
    <>
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
    </>
  );
}

/** The deposits that a person has decided about, whether or not their money still counts. */
function Decided({ state }: { readonly state: 'assigned' | 'ignored' }) {
  const here = useHere();
  const { accountId, mode } = here;
  const live = useLive();
  const query = useInfiniteQuery({
    queryKey: ['attention', accountId, mode, state],
    queryFn: ({ pageParam, signal }) =>
      payments(here)('get', '/deposits', {
        query: { state: [state], ...(pageParam !== null && { cursor: pageParam }) },
        signal,
      }),
    ...BY_CURSOR,
    ...live,
  });
  return (
    <>
      <Loaded query={query}>
        {({ pages }) => {
          const deposits = pages.flatMap((page) => page.deposits);
          return deposits.length === 0 ? (
            <Nothing state={state} />
          ) : (
            <ul className="stack">
              {deposits.map((deposit) => (
                <DepositCard key={deposit.id} deposit={deposit} likely={[]} />
              ))}
            </ul>
          );
        }}
      </Loaded>
      <More query={query} />
    </>
  );
}

const Tab = ({ href, label, isHere }: { readonly href: string; readonly label: string; readonly isHere: boolean }) => (
  <li>
    <Link href={href} aria-current={isHere ? 'page' : undefined}>
      {label}
    </Link>
  </li>
);

const EMPTY: Readonly<Record<(typeof STATES)[number], readonly [title: string, text: string]>> = {
  open: [
    'All is well',
    'Wrong amounts, double payments, money that comes late, is too much or for no payment, and webhooks that fail ' +
      'appear here, each with what to do.',
  ],
  done: [
    'Nothing is marked as done',
    'Payments that a person has dealt with are here, with who has marked them and when. Webhooks leave the list when ' +
      'they are repaired.',
  ],
  assigned: ['Nothing is assigned', 'Money that named no payment is here once a person has said which one it pays.'],
  ignored: ['Nothing is ignored', 'Money that pays nothing is here once a person has ignored it.'],
};

function Nothing({ state }: { readonly state: keyof typeof EMPTY }) {
  const [title, text] = EMPTY[state];
  return (
    <Empty title={title} icon={<CircleCheck size={28} aria-hidden />}>
      {text}
    </Empty>
  );
}

function Card({ item }: { readonly item: Item }) {
  const { kind, at, intentId, payment, deposit, likelyIntents, endpoint, delivery, reason } = item;
  const { advice, doneBy } = KINDS[kind];
  if (deposit) return <DepositCard deposit={deposit} likely={likelyIntents} />;
  return (
    <li className="card stack tight">
      <Head of={KINDS[kind]} at={at} />
      {payment && (
        <p>
          <Sum of={payment} /> on {networkLabel(payment.chain)} from{' '}
          <code title={payment.sender}>{short(payment.sender)}</code>
          {payment.differs.length > 0 &&
            `, with ${new Intl.ListFormat('en').format(payment.differs.map((term) => TERMS[term] ?? term))}`}
          {payment.late !== null && `, after the payment was ${payment.late}`}
        </p>
      )}
      {endpoint && <p className="wrap">{endpoint.url}</p>}
      {reason !== null && <p className="muted wrap">{reason}</p>}
      <p>{payment?.claimed === true ? CLAIMED : advice}</p>
      <div className="row small">
        {intentId !== null && <Link href={`/payments/${intentId}`}>Open the payment</Link>}
        {payment && <Transaction of={payment} />}
        {delivery && intentId !== null && (
          <Link href={`/developers/deliveries?intentId=${intentId}&type=${delivery.eventType}`}>See its attempts</Link>
        )}
        {endpoint && <Link href={`/developers/endpoints/${endpoint.id}`}>Open the webhook</Link>}
      </div>
      {doneBy && <Mark item={item} label={KINDS[kind].label} doneBy={doneBy} />}
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
