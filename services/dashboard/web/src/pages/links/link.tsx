import { withUnseenShown } from '@pf/contracts/unseen';
import { useQuery } from '@tanstack/react-query';
import { Ban, ChevronLeft, ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { payments } from '../../api/client.ts';
import { useLive } from '../../api/live.ts';
import { queryClient } from '../../api/query-client.ts';
import type { Of, PaymentLink as LinkData } from '../../api/types.ts';
import { offerLabel, tokensOf } from '../../format/links.ts';
import { amount, short } from '../../format/money.ts';
import { networkLabel } from '../../format/networks.ts';
import { DEVELOPERS, hasRole, SUPPORT, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { LoadedPage } from '../../ui/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { Written } from '../../ui/written.tsx';
import { linkKey, linksKey } from './keys.ts';
import { LINK_STATES } from './states.ts';

/** The link follows the events of its payments a moment later: what told of them may have come before it. */
const OPEN_MS = 5_000;

export default function PaymentLink() {
  const here = useHere();
  const { id = '' } = useParams<{ id: string }>();
  const { meta, refetchInterval } = useLive();
  const query = useQuery({
    queryKey: linkKey(here, id),
    queryFn: ({ signal }) => payments(here)('get', '/payment-links/{id}', { params: { id }, signal }),
    meta,
    refetchInterval: (read) => (read.state.data?.paymentLink.state === 'open' ? OPEN_MS : refetchInterval(read)),
  });
  const back = (
    <Link href="/payment-links" className="row">
      <ChevronLeft size={15} aria-hidden /> Payment links
    </Link>
  );
  return (
    <LoadedPage query={query} missing="Payment link not found" back={back}>
      {(found) => {
        const { paymentLink: link } = found;
        return (
          <Page
            title={`Payment link over ${amount(link.amount)} ${tokensOf(link)}`}
            back={back}
            heading={
              <span className="row">
                <span className="number">
                  {amount(link.amount)} <span className="muted">{tokensOf(link)}</span>
                </span>
                <Badge tone={LINK_STATES[link.state].tone}>{LINK_STATES[link.state].label}</Badge>
              </span>
            }
            about={LINK_STATES[link.state].means}
            actions={link.state === 'open' && hasRole(here, SUPPORT) && <Cancel link={link} />}
          >
            <RoleNote roles={SUPPORT} can="cancel payment links" />
            <PaidAgain link={link} />
            <div className="detail">
              <div className="stack loose">
                {link.state === 'open' && <Share found={found} />}
                <Section title="Ways to pay">
                  <Offers link={link} />
                </Section>
                <Section title="Begun payments" about="What its payers have chosen, oldest first.">
                  <Begun link={link} />
                </Section>
              </div>
              <aside className="stack loose" aria-label="Details">
                <Section title="Details">
                  <Details link={link} />
                </Section>
                <Section title="Metadata">
                  <Metadata link={link} />
                </Section>
              </aside>
            </div>
          </Page>
        );
      }}
    </LoadedPage>
  );
}

/** How the link gets to its payer. */
function Share({ found: { url } }: { readonly found: Of<'getPaymentLink'> }) {
  return (
    <Section
      title="Link for your customer"
      about="Who has it can pay, and sees the amount and the state. It leads to no other payment."
    >
      <RoleNote roles={DEVELOPERS} can="see the link" />
      {url === null && <Notice kind="info">This service has no page on which people pay.</Notice>}
      {typeof url === 'string' && (
        <div className="share">
          <QrCode text={url} label="The link as a code to scan" />
          <div className="stack tight">
            <p className="wrap">
              <code>{url}</code>
            </p>
            <div className="row">
              <Copy text={url} of="the link" label="Copy the link" />
              <a href={url} target="_blank" rel="noreferrer" className="button plain">
                <ExternalLink size={16} aria-hidden />
                Open it
              </a>
            </div>
          </div>
        </div>
      )}
    </Section>
  );
}

/** Two payers were quicker than the cancel: the second payment is theirs again. */
function PaidAgain({ link: { intents, paidBy } }: { readonly link: LinkData }) {
  const extra = intents.filter(({ intentId, paid }) => paid && intentId !== paidBy);
  if (extra.length === 0) return null;
  return (
    <Notice kind="warn" title={extra.length === 1 ? 'It was paid twice.' : `It was paid ${extra.length + 1} times.`}>
      Refund what came after the first payment:{' '}
      {extra.map(({ intentId }, index) => (
        <span key={intentId}>
          {index > 0 && ', '}
          <Link href={`/payments/${intentId}`}>{short(intentId)}</Link>
        </span>
      ))}
      .
    </Notice>
  );
}

const Offers = ({ link: { offers } }: { readonly link: LinkData }) => (
  <Table
    label="Ways to pay"
    rows={offers}
    keyOf={({ chain, tokenAddress, requestor }) => `${chain} ${tokenAddress} ${requestor}`}
    columns={[
      { title: 'Network', cell: ({ chain }) => <span className="nowrap">{networkLabel(chain)}</span> },
      { title: 'Token', cell: ({ token }) => token },
      {
        title: 'To wallet',
        cell: ({ requestor }) => (
          <span className="copied">
            <code title={requestor}>{short(requestor, 10)}</code>
            <Copy text={requestor} of="the wallet that receives" />
          </span>
        ),
      },
    ]}
  />
);

function Begun({ link: { intents, offers, paidBy } }: { readonly link: LinkData }) {
  if (intents.length === 0) return <p className="muted small">None yet. The first begins when a payer chooses.</p>;
  return (
    <Table
      label="Begun payments"
      rows={intents}
      keyOf={({ intentId }) => intentId}
      columns={[
        {
          title: 'Payment',
          cell: ({ intentId }) => (
            <Link href={`/payments/${intentId}`} className="row-link">
              <code>{short(intentId)}</code>
            </Link>
          ),
        },
        {
          title: 'Chosen',
          cell: ({ offer }) => {
            const chosen = offers[offer];
            return chosen && offerLabel(chosen);
          },
        },
        {
          title: 'Result',
          cell: ({ intentId, paid }) =>
            intentId === paidBy ? (
              <Badge tone="good">Paid the link</Badge>
            ) : paid ? (
              <Badge tone="warn">Paid again</Badge>
            ) : (
              <span className="muted">Not paid</span>
            ),
        },
        { title: 'Begun', end: true, from: 'phone', cell: ({ createdAt }) => <Time at={createdAt} /> },
      ]}
    />
  );
}

const Details = ({ link }: { readonly link: LinkData }) => (
  <Facts
    rows={[
      [
        'Id',
        <span className="copied">
          <code title={link.id}>{short(link.id, 10)}</code>
          <Copy text={link.id} of="the id" />
        </span>,
      ],
      ['Also paid', link.attribution === 'amount' ? 'from an exchange or any wallet, by its amount' : null],
      ['Accepts', link.accept === 'at_least' ? 'the amount or more' : null],
      ['Paid by', link.paidBy === null ? null : <Link href={`/payments/${link.paidBy}`}>{short(link.paidBy)}</Link>],
      ['Paid', link.paidAt === null ? null : <Time at={link.paidAt} />],
      ['Cancelled', link.cancelledAt === null ? null : <Time at={link.cancelledAt} />],
      ['Created', <Time at={link.createdAt} />],
      [link.state === 'expired' ? 'Expired' : 'Expires', link.state === 'paid' ? null : <Time at={link.expiresAt} />],
    ]}
  />
);

function Metadata({ link: { metadata } }: { readonly link: LinkData }) {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return <p className="muted small">None.</p>;
  return <Facts rows={entries.map(([key, value]) => [withUnseenShown(key), <Written text={value} />])} />;
}

function Cancel({ link: { id, intents } }: { readonly link: LinkData }) {
  const here = useHere();
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <Button icon={<Ban size={16} aria-hidden />} onPress={() => setAsked(true)}>
        Cancel
      </Button>
      {isAsked && (
        <Confirm
          title="Cancel this payment link?"
          submit="Cancel payment link"
          onClose={() => setAsked(false)}
          run={async () => {
            await payments(here)('post', '/payment-links/{id}/cancel', { params: { id }, body: {} });
            await queryClient.invalidateQueries({ queryKey: linkKey(here, id) });
            void queryClient.invalidateQueries({ queryKey: linksKey(here) });
          }}
        >
          <p>
            No payer can choose or pay it any more.{' '}
            {intents.length > 0 && 'What its payers have begun is cancelled within seconds. '}A webhook tells your
            programs, and it cannot be undone: to be paid after all, create another one.
          </p>
          {intents.length > 0 && (
            <p>A payment that was sent already goes on: if it arrives, the link is paid all the same.</p>
          )}
        </Confirm>
      )}
    </>
  );
}
