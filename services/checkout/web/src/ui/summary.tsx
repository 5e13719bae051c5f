import { useState } from 'preact/hooks';
import type { Intent, Merchant } from '../api/schemas.ts';
import type { Terms } from '../check/terms.ts';
import { formatAmount, formatDate, formatTime } from '../format/money.ts';
import { timeLeft } from '../pay/status.ts';
import { Address } from './address.tsx';
import { useTranslator } from './context.ts';
import { Fact } from './fact.tsx';
import { useNow } from './hooks.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly intent: Intent;
  readonly terms: Terms | null;
  readonly merchant: Merchant | null;
  readonly name: string;
  readonly clock: () => number;
}

/** Who is paid, how much, of what, where. */
export function Summary({ intent, terms, merchant, name, clock }: Props) {
  const t = useTranslator();
  const network = terms?.network.label ?? intent.chain;
  const token = intent.token.startsWith('EUR') ? t('token.eur') : t('token.usd');
  return (
    <section class="summary" aria-labelledby="amount">
      <Payee merchant={merchant} name={name} id={intent.id} />
      <h1 id="amount">
        <span class="hidden">{t('page.to', { merchant: name })}: </span>
        <bdi class="number" translate={false}>
          {formatAmount(intent.amount, t.language)}
        </bdi>{' '}
        <bdi class="token" translate={false}>
          {intent.token}
        </bdi>
      </h1>
      <p class="muted">{t('page.on_network', { token: `${intent.token} (${token})`, network })}</p>
      {intent.state === 'created' && <Timer expiresAt={intent.expiresAt} clock={clock} />}
      <dl class="facts">
        <Fact name={t('detail.recipient')}>
          <Address value={intent.requestor} what={t('detail.recipient')} />
          {intent.attribution !== 'amount' && (
            <span class="muted small">{t('detail.recipient_hint', { merchant: name })}</span>
          )}
        </Fact>
      </dl>
      <details class="more">
        <summary>{t('detail.more')}</summary>
        <dl class="facts">
          <Fact name={t('detail.payment')}>
            <Address value={intent.id} what={t('detail.payment')} />
          </Fact>
          <Fact name={t('detail.network')}>{network}</Fact>
          {intent.state === 'created' && (
            <Fact name={t('detail.expires')}>{formatDate(intent.expiresAt, t.language)}</Fact>
          )}
        </dl>
      </details>
    </section>
  );
}

/** An uploaded logo is in the text; one from elsewhere comes through the page's own origin. */
const logoOf = (logo: string, id: string): string =>
  logo.startsWith('data:image/png;base64,') ? logo : `/logo/${encodeURIComponent(id)}`;

/** Who is paid. @param id of the intent or the payment link */
export function Payee({ merchant, name, id }: Pick<Props, 'merchant' | 'name'> & { readonly id: string }) {
  const [isBroken, setBroken] = useState(false);
  const logo = merchant?.logo ?? null;
  return (
    <p class="payee">
      {logo !== null && !isBroken ? (
        <img class="logo" src={logoOf(logo, id)} alt="" width="44" height="44" onError={() => setBroken(true)} />
      ) : (
        <span class="logo initial" aria-hidden="true" translate={false}>
          {[...name][0]?.toUpperCase()}
        </span>
      )}
      <bdi translate={false}>{name}</bdi>
    </p>
  );
}

function Timer({ expiresAt, clock }: { readonly expiresAt: string; readonly clock: () => number }) {
  const t = useTranslator();
  const left = timeLeft(expiresAt, useNow(clock));
  if (left === null) return null;
  return (
    <p class="timer">
      <Icon name="clock" />
      <span>{t('timer.left')}</span>
      <span role="timer" aria-live="off" class="number" translate={false}>
        {formatTime(left, t.language)}
      </span>
    </p>
  );
}
