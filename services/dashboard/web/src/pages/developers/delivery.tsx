import { useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { Link } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import type { Delivery } from '../../api/types.ts';
import { DELIVERY_STATUS, statusOf } from '../../format/deliveries.ts';
import { short } from '../../format/money.ts';
import { duration } from '../../format/time.ts';
import { hasRole, SUPPORT, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { useTask } from '../../ui/task.ts';
import { Moment, Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

/** One delivery: what was sent, every attempt, and what came back. */
export function DeliveryDialog({
  delivery,
  onChanged,
  onClose,
}: {
  readonly delivery: Delivery;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) {
  const here = useHere();
  const live = useLive();
  const { id, eventId, intentId } = delivery;
  const status = statusOf(delivery);
  const attempts = useQuery({
    queryKey: ['attempts', here.accountId, here.mode, id],
    queryFn: ({ signal }) => payments(here)('get', '/webhooks/{id}/attempts', { params: { id }, signal }),
    ...live,
  });
  const sent = attempts.data?.requestBody ?? null;
  const [resend, isSending] = useTask(async () => {
    await payments(here)('post', '/webhooks/{id}/retry', { params: { id }, body: {} });
    notify('It is sent again.');
    onChanged();
    await attempts.refetch();
  });
  return (
    <Dialog title={delivery.type} wide onClose={onClose}>
      <Facts
        rows={[
          ['Status', <Badge tone={DELIVERY_STATUS[status].tone}>{DELIVERY_STATUS[status].label}</Badge>],
          ['URL', <span className="wrap">{delivery.url}</span>],
          ['Event', <code className="wrap">{eventId}</code>],
          [
            'Payment',
            intentId === null ? null : (
              <Link href={`/payments/${intentId}`} onClick={onClose}>
                {short(intentId, 10)}
              </Link>
            ),
          ],
          ['Next attempt', delivery.nextAttemptAt === null ? null : <Time at={delivery.nextAttemptAt} />],
        ]}
      />
      <RoleNote roles={SUPPORT} can="send it again" />
      <div className="row apart">
        <h3>Attempts</h3>
        {hasRole(here, SUPPORT) && (
          <Button icon={<RotateCw size={15} aria-hidden />} isPending={isSending} onPress={() => resend()}>
            Send again
          </Button>
        )}
      </div>
      <Loaded query={attempts}>
        {(data) =>
          data.attempts.length === 0 ? (
            <p className="muted">None yet.</p>
          ) : (
            <ol className="stack">
              {data.attempts.toReversed().map(({ number, at, durationMs, responseStatus, reason, responseBody }) => (
                <li key={number} className="attempt stack tight">
                  <div className="row apart">
                    <span className="row">
                      <Badge tone={reason === null ? 'good' : 'bad'}>{responseStatus ?? 'No response'}</Badge>
                      <span className="muted small">
                        {number}, after {duration(durationMs)}
                      </span>
                    </span>
                    <span className="muted small">
                      <Moment at={at} />
                    </span>
                  </div>
                  {reason !== null && <p className="small wrap">{reason}</p>}
                  {responseBody !== null && responseBody !== '' && (
                    <Code text={responseBody} label="The beginning of the response" />
                  )}
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
      {sent !== null && <Code text={JSON.stringify(JSON.parse(sent), null, 2)} label="What is sent" />}
    </Dialog>
  );
}
