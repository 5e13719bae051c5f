import { withUnseenShown } from '@pf/contracts/unseen';
import { explorerPage } from '@pf/chains/networks';
import { useQuery } from '@tanstack/react-query';
import { Ban, ChevronLeft, ExternalLink, FlaskConical, Undo2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { payments } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { eventsKey, paymentKey, usePaymentStream } from '../../api/stream.ts';
import type { Payment as PaymentData, State } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { hasEnded, SIMULATED, STATES } from '../../format/states.ts';
import { DEVELOPERS, hasRole, SUPPORT, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Facts } from '../../ui/facts.tsx';
import { LoadedPage } from '../../ui/loaded.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { useTask } from '../../ui/task.ts';
import { Time } from '../../ui/time.tsx';
import { Metadata } from './metadata.tsx';
import { Play } from './play.tsx';
import { Timeline } from './timeline.tsx';

/** With what reads transactions, which few payments need. */
const Sign = lazy(() => import('./sign.tsx'));

export default function Payment() {
  const here = useHere();
  const { id = '' } = useParams<{ id: string }>();
  const query = useQuery({
    queryKey: paymentKey(here, id),
    queryFn: async ({ signal }) => (await payments(here)('get', '/intents/{id}', { params: { id }, signal })).intent,
  });
  usePaymentStream(here, id, query.data !== undefined && !hasEnded(query.data.state));
  const back = (
    <Link href="/payments" className="row">
      <ChevronLeft size={15} aria-hidden /> Payments
    </Link>
  );
  return (
    <LoadedPage query={query} missing="Payment not found" back={back}>
      {(payment) => (
        <Page
          title={`Payment of ${amount(payment.amount)} ${payment.token}`}
          back={back}
          heading={
            <span className="row">
              <span className="number">
                {amount(payment.amount)} <span className="muted">{payment.token}</span>
              </span>
              <Badge tone={STATES[payment.state].tone}>{STATES[payment.state].label}</Badge>
            </span>
          }
          about={STATES[payment.state].means}
          actions={
            <>
              {payment.state === 'created' && payment.direction === 'request' && <Play payment={payment} />}
              <Actions payment={payment} />
            </>
          }
        >
          <RoleNote roles={SUPPORT} can="cancel, refund or simulate payments" />
          {payment.retryRequired && (
            <Notice kind="warn" title="The payer has to sign again">
              The transaction was dropped: it can never land, and no money has moved.
            </Notice>
          )}
          <div className="detail">
            <div className="stack loose">
              {payment.direction === 'send' && payment.fulfiller !== null && payment.state === 'created' && (
                <Suspense>{hasRole(here, SUPPORT) && <Sign payment={payment} payer={payment.fulfiller} />}</Suspense>
              )}
              <Timeline payment={payment} />
            </div>
            <aside className="stack loose" aria-label="Details">
              <Section title="Details">
                <Details payment={payment} />
              </Section>
              <Metadata payment={payment} />
            </aside>
          </div>
        </Page>
      )}
    </LoadedPage>
  );
}

const Code = ({ text, of }: { readonly text: string; readonly of: string }) => (
  <span className="copied">
    <code title={text}>{short(text, 10)}</code>
    <Copy text={text} of={of} />
  </span>
);

function Details({ payment }: { readonly payment: PaymentData }) {
  const explorer = payment.txSignature === null ? null : explorerPage(payment.chain, payment.txSignature);
  return (
    <Facts
      rows={[
        ['Id', <Code text={payment.id} of="the id" />],
        ['Accepts', payment.accept === 'at_least' ? 'the amount or more' : null],
        [
          'Received',
          payment.amountReceived === undefined ? null : `${amount(payment.amountReceived)} ${payment.token}`,
        ],
        ['Network', networkLabel(payment.chain)],
        ['To', <Code text={payment.requestor} of="the wallet that receives" />],
        [
          'From',
          payment.fulfiller === null ? 'Whoever pays' : <Code text={payment.fulfiller} of="the wallet that pays" />,
        ],
        [
          'Transaction',
          payment.txSignature === null ? null : (
            <>
              <Code text={payment.txSignature} of="the transaction" />
              {explorer !== null && (
                <a href={explorer} target="_blank" rel="noreferrer" className="row small">
                  Look it up on the chain <ExternalLink size={13} aria-hidden />
                </a>
              )}
            </>
          ),
        ],
        ['Reference', <Code text={payment.reference} of="the reference" />],
        ['Created', <Time at={payment.createdAt} />],
        [
          'Expires',
          payment.state === 'created' || payment.state === 'pending' ? <Time at={payment.expiresAt} /> : null,
        ],
        [
          'Idempotency key',
          payment.idempotencyKey === undefined ? null : (
            <code className="wrap">{withUnseenShown(payment.idempotencyKey)}</code>
          ),
        ],
        [
          'Refund of',
          payment.refundOf === null ? null : (
            <Link href={`/payments/${payment.refundOf}`}>{short(payment.refundOf)}</Link>
          ),
        ],
        [
          'Refunded by',
          payment.refundedBy === null ? null : (
            <Link href={`/payments/${payment.refundedBy}`}>{short(payment.refundedBy)}</Link>
          ),
        ],
      ]}
    />
  );
}

/** What can be done with a payment in its state, by a person of this role. */
function Actions({ payment }: { readonly payment: PaymentData }) {
  const here = useHere();
  const [, navigate] = useLocation();
  const [asked, setAsked] = useState<'cancel' | 'refund' | null>(null);
  const { id, state, refundedBy } = payment;
  const choosesAddress = hasRole(here, DEVELOPERS);
  const close = (): void => setAsked(null);
  const show = (changed: PaymentData): void => {
    queryClient.setQueryData(paymentKey(here, id), changed);
    void queryClient.invalidateQueries({ queryKey: eventsKey(here, id) });
  };
  const [simulate, isSimulating] = useTask(async (targetState: State) => {
    const simulated = { params: { id }, body: { targetState } };
    show((await payments(here)('post', '/test/intents/{id}/simulate', simulated)).intent);
  });
  if (!hasRole(here, SUPPORT)) return null;
  const targets = here.mode === 'test' ? SIMULATED[state] : [];
  const isPaid = state === 'confirmed' || state === 'finalized';
  return (
    <>
      {state === 'created' && (
        <Button icon={<Ban size={16} aria-hidden />} onPress={() => setAsked('cancel')}>
          Cancel
        </Button>
      )}
      {isPaid && refundedBy === null && (
        <Button icon={<Undo2 size={16} aria-hidden />} onPress={() => setAsked('refund')}>
          Refund
        </Button>
      )}
      {targets.length > 0 && (
        <Menu
          label="Simulate"
          button={
            <Button look="main" icon={<FlaskConical size={16} aria-hidden />} isPending={isSimulating}>
              Simulate
            </Button>
          }
          entries={targets.map((target) => ({
            id: target,
            text: STATES[target].label,
            label: (
              <span>
                {target === 'created' ? 'Dropped' : STATES[target].label}
                <br />
                <span className="muted small">
                  {target === 'created' ? 'The transaction can never land.' : STATES[target].means}
                </span>
              </span>
            ),
            run: () => simulate(target),
          }))}
        />
      )}
      {asked === 'cancel' && (
        <Confirm
          title="Cancel this payment?"
          submit="Cancel payment"
          onClose={close}
          run={async () =>
            show((await payments(here)('post', '/intents/{id}/cancel', { params: { id }, body: {} })).intent)
          }
        >
          <p>
            No payer can pay it any more. A webhook tells your programs, and it cannot be undone: to be paid after all,
            create another one.
          </p>
        </Confirm>
      )}
      {asked === 'refund' && (
        <Confirm
          title={`Refund ${amount(payment.amountReceived ?? payment.amount)} ${payment.token}?`}
          submit="Create refund"
          onClose={close}
          run={async (field) => {
            const to = choosesAddress ? field('to').trim() : '';
            const body = to === '' ? {} : { to };
            const { intent } = await payments(here)('post', '/intents/{id}/refund', { params: { id }, body });
            void queryClient.invalidateQueries({ queryKey: paymentKey(here, id) });
            navigate(`/payments/${intent.id}`);
          }}
        >
          <p>
            A payment of {payment.amountReceived === undefined ? 'the same amount' : 'all that arrived'} back to{' '}
            <code>{short(payment.fulfiller ?? '')}</code>
            {choosesAddress && ', or to the address below,'} is created. No money moves yet: you then sign it with the
            wallet <code>{short(payment.requestor)}</code>, within 24 hours.
          </p>
          <p>The network&apos;s fee is yours. What you have refunded comes back only if the payer sends it.</p>
          <RoleNote roles={DEVELOPERS} can="have it paid to another address" />
          {choosesAddress && (
            <Field
              name="to"
              label="Another address"
              hint="Where the payer names one. Exchanges pay from wallets that are not their customers'."
              mono
            />
          )}
        </Confirm>
      )}
    </>
  );
}
