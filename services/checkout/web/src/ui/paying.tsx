import type { Intent, Unsigned } from '../api/schemas.ts';
import type { Terms } from '../check/terms.ts';
import { formatAmount, solOf } from '../format/money.ts';
import type { Checkout } from '../pay/checkout.ts';
import type { State, Step } from '../pay/state.ts';
import { codesOf, transferCodesOf } from '../pay/codes.ts';
import { lastAskedAt } from '../pay/money.ts';
import type { Status } from '../pay/status.ts';
import { Address } from './address.tsx';
import { useTranslator } from './context.ts';
import { Fact } from './fact.tsx';
import { useNow } from './hooks.ts';
import { Icon } from './icon.tsx';
import { Receipt } from './receipt.tsx';
import { Ways } from './ways.tsx';
import { Words } from './words.tsx';

export interface PayingProps {
  readonly checkout: Checkout;
  readonly state: State;
  readonly intent: Intent;
  readonly terms: Terms | null;
  readonly status: Status;
  /** Of the merchant, or words for it. */
  readonly name: string;
  /** The whole link, secret included. */
  readonly page: string;
  readonly isEmbedded: boolean;
  readonly clock: () => number;
}

/** What a person can do now. */
export function Paying(props: PayingProps) {
  const { checkout, state, intent, terms, status, page, name, isEmbedded, clock } = props;
  const t = useTranslator();
  const { step } = state;
  if (intent.state === 'confirmed' || intent.state === 'finalized') return <Receipt intent={intent} terms={terms} />;
  if (step.kind === 'stopped') return <Stopped step={step} name={name} onBack={() => checkout.back()} />;
  if (status.offers === 'again' || status.offers === 'again_later') {
    const since = status.offers === 'again' ? null : lastAskedAt(state.money);
    const isAnother = status.key === 'wrong_payment';
    const whom = { merchant: name };
    const hint = isAnother ? t('pay.again_after_another', whom) : t('pay.start_again_hint', whom);
    return <Again since={since} hint={hint} clock={clock} onRestart={() => checkout.restart()} />;
  }
  const isByAmount = intent.attribution === 'amount';
  if (isByAmount && (status.key === 'expired' || status.key === 'cancelled')) return <Late intent={intent} />;
  if (status.offers === 'nothing' || terms === null) return null;
  if (isEmbedded)
    return (
      <div class="stack">
        <a class="primary" href={page} target="_blank" rel="noopener noreferrer">
          {t('ways.embedded')}
        </a>
        <p class="muted small">{t('ways.embedded_hint')}</p>
      </div>
    );
  switch (step.kind) {
    case 'choosing': {
      const place = { origin: location.origin, page, merchant: name, solanaPayToken: state.solanaPayToken };
      return (
        <Ways
          intent={intent}
          network={terms.network}
          codes={codesOf(intent, terms, place)}
          transferCodes={isByAmount ? transferCodesOf(intent, terms) : null}
          merchant={name}
          page={page}
          onChoose={(wallet) => void checkout.connect(wallet)}
          sponsor={state.hasSponsor ? name : null}
        />
      );
    }
    case 'connecting':
    case 'building':
    case 'ending':
      return <Back onBack={() => checkout.back()} />;
    case 'ready':
    case 'confirming':
      return <Confirm step={step} intent={intent} checkout={checkout} merchant={name} />;
  }
}

/** Exchanges may take hours, and the amount stays the intent's for days. */
function Late({ intent: { amount, token } }: { readonly intent: Intent }) {
  const t = useTranslator();
  return <p class="muted">{t('transfer.late', { amount: `${formatAmount(amount, t.language)}\u00a0${token}` })}</p>;
}

function Back({ onBack }: { readonly onBack: () => void }) {
  const t = useTranslator();
  return (
    <button type="button" class="quiet" onClick={onBack}>
      <Icon name="back" />
      {t('ways.change')}
    </button>
  );
}

interface ConfirmProps {
  readonly step: Extract<Step, { kind: 'ready' | 'confirming' }>;
  readonly intent: Intent;
  readonly checkout: Checkout;
  readonly merchant: string;
}

/** The last look before the wallet: what it costs, who pays the fee, and from where. */
function Confirm({ step, intent, checkout, merchant }: ConfirmProps) {
  const t = useTranslator();
  const isConfirming = step.kind === 'confirming';
  const { name } = step.wallet;
  const amount = `${formatAmount(intent.amount, t.language)}\u00a0${intent.token}`;
  const rent = step.unsigned.ataRentLamports;
  const fee = feeIn(step.unsigned, t.language);
  return (
    <div class="stack">
      <dl class="facts boxed">
        {(step.payment.isSponsored || step.session.asksPaymaster) && (
          <Fact name={t('detail.sponsored_fee')}>{t('detail.sponsored_by', { merchant })}</Fact>
        )}
        {fee !== null && (
          <Fact name={t('detail.fee')}>
            <span class="number" translate={false}>
              {fee}
            </span>
          </Fact>
        )}
        {rent !== null && (
          <Fact name={t('detail.account_rent')}>
            <span class="number" translate={false}>
              {`${formatAmount(solOf(rent), t.language, 0)}\u00a0SOL`}
            </span>
            <span class="muted small">{t('detail.account_rent_hint', { token: intent.token })}</span>
          </Fact>
        )}
        <Fact name={t('detail.from')}>
          <Address value={step.session.account} what={t('detail.from')} />
        </Fact>
      </dl>
      <button type="button" class="primary" aria-disabled={isConfirming} onClick={() => void checkout.pay()}>
        {isConfirming && <span class="spinner" />}
        <Words text={isConfirming ? t('pay.in', { wallet: name }) : t('pay.do', { amount })} />
      </button>
      <p class="checked small muted">
        <Icon name="shield" />
        {t('pay.checked')}
      </p>
      <Back onBack={() => checkout.back()} />
    </div>
  );
}

function feeIn({ estimatedFeeLamports, estimatedFeeEth, estimatedFeeUsdc }: Unsigned, locale: string): string | null {
  if (estimatedFeeLamports !== null) return `${formatAmount(solOf(estimatedFeeLamports), locale, 0)}\u00a0SOL`;
  if (estimatedFeeEth !== null) return `${formatAmount(estimatedFeeEth, locale, 0)}\u00a0ETH`;
  return estimatedFeeUsdc === null ? null : `${formatAmount(estimatedFeeUsdc, locale)}\u00a0USD`;
}

/** After so long a person may wonder, and may be right that nothing was sent. */
const START_AGAIN_FROM_MS = 60_000;

interface AgainProps {
  /** When the wallet was asked; null where the person may begin again at once. */
  readonly since: number | null;
  readonly hint: string;
  readonly clock: () => number;
  readonly onRestart: () => void;
}

/** What another payment may lead to, and the way to it all the same. */
function Again({ since, hint, clock, onRestart }: AgainProps) {
  const t = useTranslator();
  const now = useNow(clock);
  if (since !== null && now - since < START_AGAIN_FROM_MS) return null;
  return (
    <div class="stack">
      <p class="muted small">
        <Words text={hint} />
      </p>
      <button type="button" class="secondary" onClick={onRestart}>
        {t('pay.start_again')}
      </button>
    </div>
  );
}

interface StoppedProps {
  readonly step: Extract<Step, { kind: 'stopped' }>;
  readonly name: string;
  readonly onBack: () => void;
}

function Stopped({ step, name, onBack }: StoppedProps) {
  const t = useTranslator();
  return (
    <div class="stack">
      <div class="note bad">
        <Icon name="shield" />
        <div class="words">
          <strong>{t('stopped.found')}</strong>
          <ul>
            {step.differs.map((difference) => (
              <li key={difference}>{t(`difference.${difference}`)}</li>
            ))}
          </ul>
          <span>{t('stopped.advice', { merchant: name })}</span>
        </div>
      </div>
      <button type="button" class="secondary" onClick={onBack}>
        {t('pay.start_again')}
      </button>
    </div>
  );
}
