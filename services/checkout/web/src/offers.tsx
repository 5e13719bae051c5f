import { findNetwork, isCalled } from '@pf/chains/networks';
import { useEffect, useState } from 'preact/hooks';
import type { LinkClient } from './api/link-client.ts';
import { chosenLink, type OffersLink } from './api/link.ts';
import { ApiError } from './api/requests.ts';
import type { Merchant, PaymentLink } from './api/schemas.ts';
import { formatAmount } from './format/money.ts';
import { type Problem, problemOf } from './pay/problem.ts';
import type { Status } from './pay/status.ts';
import { useTranslator } from './ui/context.ts';
import { Ends } from './ui/ends.tsx';
import { useAccent, useTitle } from './ui/hooks.ts';
import { Icon } from './ui/icon.tsx';
import { ProblemNote } from './ui/problem-note.tsx';
import { StatusLine } from './ui/status-line.tsx';
import { Payee } from './ui/summary.tsx';
import { Words } from './ui/words.tsx';

/** While the page is looked at: it may be paid in another one. */
const REFRESH_MS = 5_000;

interface Props {
  readonly link: OffersLink;
  readonly client: LinkClient;
}

/** Several ways to pay one amount. The payer chooses one, and goes on on the page of its payment. */
export function OffersPage({ link, client }: Props) {
  const t = useTranslator();
  const [paymentLink, setPaymentLink] = useState<PaymentLink | null>(null);
  const [merchant, setMerchant] = useState<Merchant | null>(null);
  const [missing, setMissing] = useState<'unknown' | 'unreachable' | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isChoosing, setChoosing] = useState(false);

  const load = (): void => {
    client.fetchLink().then(
      (loaded) => {
        setPaymentLink(loaded);
        setMissing(null);
      },
      (error: unknown) => {
        const isUnknown = error instanceof ApiError && (error.status === 404 || error.status === 401);
        setMissing(isUnknown ? 'unknown' : 'unreachable');
      },
    );
    client.fetchMerchant().then(setMerchant, () => undefined);
  };
  useEffect(load, [client]);
  const isOpen = paymentLink?.state === 'open';
  useEffect(() => {
    const refresh = (): void => {
      if (document.visibilityState === 'visible') client.fetchLink().then(setPaymentLink, () => undefined);
    };
    const timer = isOpen ? setInterval(refresh, REFRESH_MS) : undefined;
    return () => clearInterval(timer);
  }, [client, isOpen]);
  const choose = async (offer: number): Promise<void> => {
    setChoosing(true);
    setProblem(null);
    try {
      location.assign(chosenLink(new URL(location.href), link, await client.choose(offer)));
    } catch (error) {
      setChoosing(false);
      // What it is now says all.
      if (!(error instanceof ApiError && error.code === 'payment_link.invalid_state')) setProblem(problemOf(error));
      load();
    }
  };

  const name = merchant?.name ?? t('page.merchant_unknown');
  const paid = paymentLink?.intents.find(({ intentId }) => intentId === paymentLink.paidBy)?.offer;
  const token = paymentLink?.offers[paid ?? 0]?.token ?? '';
  const isOneToken = new Set(paymentLink?.offers.map((offer) => offer.token)).size === 1;
  const amount = paymentLink === null ? '' : formatAmount(paymentLink.amount, t.language);
  const params = { merchant: name, amount: `${amount}\u00a0${token}` };
  useAccent(merchant?.accentColor ?? null);
  useTitle(paymentLink === null ? t('page.title') : t('page.title_amount', { merchant: name, amount }));
  const status = statusOf(paymentLink, missing);

  if (paymentLink === null)
    return (
      <main class="card alone">
        {status && <StatusLine status={status} params={params} />}
        {missing === 'unreachable' && (
          <button type="button" class="primary" onClick={load}>
            {t('pay.reload')}
          </button>
        )}
      </main>
    );
  return (
    <>
      {!paymentLink.livemode && <p class="test-mode">{t('page.test')}</p>}
      <main class="card">
        <section class="summary" aria-labelledby="amount">
          <Payee merchant={merchant} name={name} id={paymentLink.id} />
          <h1 id="amount">
            <span class="hidden">{t('page.to', { merchant: name })}: </span>
            <bdi class="number" translate={false}>
              {amount}
            </bdi>
            {isOneToken && (
              <bdi class="token" translate={false}>
                {' '}
                {token}
              </bdi>
            )}
          </h1>
        </section>
        <section class="paying" aria-label={t('page.title')}>
          {status && <StatusLine status={status} params={params} />}
          {problem && (
            <ProblemNote
              problem={problem}
              note={{ help: `problem.${problem.kind}.text`, money: null }}
              params={params}
              onOwnFee={null}
            />
          )}
          {isOpen && (
            <div class="ways">
              <h2>{t('ways.title')}</h2>
              <ul class="wallets offers">
                {paymentLink.offers.map((offer, number) => (
                  <li key={number}>
                    <Offer
                      offer={offer}
                      livemode={paymentLink.livemode}
                      isBegun={paymentLink.intents.some((intent) => intent.offer === number)}
                      isBusy={isChoosing}
                      onChoose={() => void choose(number)}
                    />
                  </li>
                ))}
              </ul>
            </div>
          )}
          {paid !== undefined && (
            <button type="button" class="quiet" disabled={isChoosing} onClick={() => void choose(paid)}>
              {t('receipt.title')}
            </button>
          )}
          <Ends
            merchant={merchant}
            name={name}
            returnUrl={link.returnUrl}
            offersUrl={null}
            isDone={paymentLink.state === 'paid'}
          />
        </section>
      </main>
    </>
  );
}

interface OfferProps {
  readonly offer: PaymentLink['offers'][number];
  readonly livemode: boolean;
  readonly isBegun: boolean;
  readonly isBusy: boolean;
  readonly onChoose: () => void;
}

/** An offer in words. One that this page cannot check cannot be chosen here. */
function Offer({ offer, livemode, isBegun, isBusy, onChoose }: OfferProps) {
  const t = useTranslator();
  const network = findNetwork(offer.chain);
  const isKnown = network?.livemode === livemode && network.tokens.some((token) => isCalled(token, offer.token));
  const kind = offer.token.startsWith('EUR') ? t('token.eur') : t('token.usd');
  const hint = !isKnown ? t('offers.unknown') : isBegun ? t('offers.begun') : kind;
  return (
    <button type="button" class="way" disabled={!isKnown || isBusy} onClick={onChoose}>
      <span class="grow words">
        <bdi>{t('page.on_network', { token: offer.token, network: network?.label ?? offer.chain })}</bdi>
        <Words class="muted small" text={hint} />
      </span>
      <Icon name="chevron" />
    </button>
  );
}

/** Null while the payer can choose: the offers say all. */
function statusOf(link: PaymentLink | null, missing: 'unknown' | 'unreachable' | null): Status | null {
  const of = (key: Status['key'], tone: Status['tone']): Status => ({ key, tone, offers: 'nothing' });
  if (link === null) return missing === null ? of('loading', 'busy') : of(missing, 'bad');
  switch (link.state) {
    case 'open':
      return null;
    case 'paid':
      return of('paid', 'good');
    case 'cancelled':
    case 'expired':
      return of(link.state, 'warn');
  }
}
