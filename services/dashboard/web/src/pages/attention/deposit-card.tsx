import { ArrowRightLeft, EyeOff, RotateCcw } from 'lucide-react';
import { Link } from 'wouter';
import { payments } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Deposit, Of } from '../../api/types.ts';
import { amount, short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { DEPOSIT_REASONS, STATES } from '../../format/states.ts';
import { hasRole, SUPPORT, useHere } from '../../shell/place.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog, DialogButton } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { useTask } from '../../ui/task.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { Head, type Sort, Sum, Transaction } from './parts.tsx';

export const UNKNOWN_MONEY: Sort = {
  label: 'Unknown money',
  tone: 'warn',
  advice:
    'Find out what it is for, and assign it to that payment. To send it back, ask for an address: exchanges pay from ' +
    "wallets that are not their customers'. Ignore it when there is nothing left to do.",
};
const ASSIGNED: Sort = {
  label: 'Assigned',
  tone: 'good',
  advice: 'A person has said which payment it pays. Undo it if it was the wrong one, before you refund the payment.',
};

/** A payment that a deposit may have been meant for. */
type Likely = Of<'listAttention'>['attention'][number]['likelyIntents'][number];

/** Why the money of a deposit no longer counts. */
const GONE: Readonly<Partial<Record<Deposit['level'], string>>> = {
  lost: 'The network has undone it: the money is not there. It counts again should it land again.',
  withdrawn: 'It has turned out to pay a payment.',
};

/** A deposit, what may be its payment, and what a person can decide about it. */
export function DepositCard({ deposit, likely }: { readonly deposit: Deposit; readonly likely: readonly Likely[] }) {
  const { chain, sender, recipient, reason, level, state, intentId, createdAt } = deposit;
  const here = useHere();
  const gone = GONE[level];
  const sort = state === 'assigned' ? ASSIGNED : UNKNOWN_MONEY;
  // What was lost would pay the same payment again: a person may undo that beforehand.
  const isDecidable = gone === undefined || (level === 'lost' && state === 'assigned');
  return (
    <li className="card stack tight">
      <Head of={sort} at={createdAt} />
      <p>
        <Sum of={deposit} /> on {networkLabel(chain)} to <code title={recipient}>{short(recipient)}</code>
        {sender === null ? (
          ', from no wallet'
        ) : (
          <>
            {' '}
            from <code title={sender}>{short(sender)}</code>
          </>
        )}
      </p>
      <p>{gone ?? DEPOSIT_REASONS[reason]}</p>
      {isDecidable && <p>{sort.advice}</p>}
      {likely.length > 0 && <LikelyPayments deposit={deposit} likely={likely} />}
      <div className="row small">
        {intentId !== null && <Link href={`/payments/${intentId}`}>Open the payment</Link>}
        <Transaction of={deposit} />
      </div>
      {isDecidable && hasRole(here, SUPPORT) && <Decisions deposit={deposit} />}
    </li>
  );
}

/** The unpaid payments of its wallet and token that a deposit may have been meant for. */
function LikelyPayments({ deposit, likely }: { readonly deposit: Deposit; readonly likely: readonly Likely[] }) {
  const mayAssign = hasRole(useHere(), SUPPORT);
  const name = (money: string): string => `${amount(money)} ${deposit.token ?? ''}`;
  return (
    <section className="stack tight" aria-label="It may be for">
      <p className="muted small">It may be for</p>
      <ul className="stack tight">
        {likely.map((payment) => (
          <li key={payment.id} className="row apart">
            <span>
              <Link href={`/payments/${payment.id}`}>{name(payment.amount)}</Link>{' '}
              <Badge tone={STATES[payment.status].tone}>{STATES[payment.status].label}</Badge>{' '}
              <span className="muted small">
                {payment.missing !== null && `${name(payment.missing)} more than came, `}created{' '}
                <Time at={payment.createdAt} />
              </span>
            </span>
            {mayAssign && payment.missing === null && (
              <DialogButton label="Assign" describedBy={`Assign to ${payment.id}`}>
                {(close) => <Assign deposit={deposit} to={payment} onClose={close} />}
              </DialogButton>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What a person can decide about a deposit, and undo. */
function Decisions({ deposit }: { readonly deposit: Deposit }) {
  return (
    <div className="row actions">
      {deposit.state === 'assigned' ? (
        <DialogButton label="Undo" describedBy="Undo the assignment" icon={<RotateCcw size={16} aria-hidden />}>
          {(close) => <Unassign deposit={deposit} onClose={close} />}
        </DialogButton>
      ) : (
        <Ignore deposit={deposit} />
      )}
      {deposit.state === 'open' && (
        <DialogButton label="Assign to a payment" icon={<ArrowRightLeft size={16} aria-hidden />}>
          {(close) => <Assign deposit={deposit} to={null} onClose={close} />}
        </DialogButton>
      )}
    </div>
  );
}

/** Lists what there is to decide once more. */
function useDecided(): (told: string) => Promise<void> {
  const { accountId, mode } = useHere();
  return async (told) => {
    notify(told);
    await queryClient.invalidateQueries({ queryKey: ['attention', accountId, mode] });
  };
}

/** Assigns a deposit to a payment: the one that is given, or the one whose id a person pastes. */
function Assign({
  deposit,
  to,
  onClose,
}: {
  readonly deposit: Deposit;
  readonly to: Likely | null;
  readonly onClose: () => void;
}) {
  const here = useHere();
  const decided = useDecided();
  return (
    <Dialog title="Assign the money to a payment" onClose={onClose}>
      <Form
        submit="Assign"
        run={async (field) => {
          const intentId = to?.id ?? field('intentId').trim();
          await payments(here)('post', '/deposits/{id}/assign', { params: { id: deposit.id }, body: { intentId } });
          onClose();
          await decided('Assigned. It is under Assigned now.');
        }}
      >
        <p>
          <Sum of={deposit} /> pays {to === null ? 'a payment of the same wallet, network, token and amount' : ''}
          {to !== null && <code>{to.id}</code>}. Your webhooks say that it is paid. You can undo this until you refund
          it.
        </p>
        {to === null && <Field name="intentId" label="Payment" placeholder="pi_…" isRequired mono />}
      </Form>
    </Dialog>
  );
}

function Unassign({ deposit: { id, intentId }, onClose }: { readonly deposit: Deposit; readonly onClose: () => void }) {
  const here = useHere();
  const decided = useDecided();
  return (
    <Confirm
      title="Undo the assignment?"
      submit="Undo the assignment"
      onClose={onClose}
      run={async () => {
        await payments(here)('post', '/deposits/{id}/unassign', { params: { id }, body: {} });
        await decided('Undone. It is under Open now.');
      }}
    >
      <p>
        The money no longer pays <code>{intentId}</code>, which fails unless it was paid again. Your webhooks say so.
      </p>
    </Confirm>
  );
}

/** Whether there is nothing to do about a deposit: the way there and back. */
function Ignore({ deposit: { id, state } }: { readonly deposit: Deposit }) {
  const here = useHere();
  const decided = useDecided();
  const isOpen = state === 'open';
  const [change, isChanging] = useTask(async () => {
    const act = isOpen ? '/deposits/{id}/ignore' : '/deposits/{id}/reopen';
    await payments(here)('post', act, { params: { id }, body: {} });
    await decided(isOpen ? 'Ignored. It is under Ignored now.' : 'Opened again. It is under Open now.');
  });
  return (
    <Button
      icon={isOpen ? <EyeOff size={16} aria-hidden /> : <RotateCcw size={16} aria-hidden />}
      aria-label={`${isOpen ? 'Ignore' : 'Open again'}: ${UNKNOWN_MONEY.label}`}
      isPending={isChanging}
      onPress={() => change()}
    >
      {isOpen ? 'Ignore' : 'Open again'}
    </Button>
  );
}
