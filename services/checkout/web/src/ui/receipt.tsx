import { explorerPage } from '@pf/chains/networks';
import type { Intent } from '../api/schemas.ts';
import type { Terms } from '../check/terms.ts';
import { formatAmount, formatDate } from '../format/money.ts';
import { Address } from './address.tsx';
import { useTranslator } from './context.ts';
import { Fact } from './fact.tsx';
import { Icon } from './icon.tsx';

/** What a person keeps of a payment. */
export function Receipt({ intent, terms }: { readonly intent: Intent; readonly terms: Terms | null }) {
  const t = useTranslator();
  const { txSignature, fulfiller, confirmedAt } = intent;
  const explorer = txSignature === null ? null : explorerPage(intent.chain, txSignature);
  return (
    <div class="stack receipt">
      <h2>{t('receipt.title')}</h2>
      <dl class="facts boxed">
        <Fact name={t('detail.amount')}>
          <span
            class="number"
            translate={false}
          >{`${formatAmount(intent.amount, t.language)}\u00a0${intent.token}`}</span>
        </Fact>
        <Fact name={t('detail.network')}>{terms?.network.label ?? intent.chain}</Fact>
        {confirmedAt !== null && <Fact name={t('detail.paid_at')}>{formatDate(confirmedAt, t.language)}</Fact>}
        {fulfiller !== null && (
          <Fact name={t('detail.from')}>
            <Address value={fulfiller} what={t('detail.from')} />
          </Fact>
        )}
        {txSignature !== null && (
          <Fact name={t('detail.transaction')}>
            <Address value={txSignature} what={t('detail.transaction')} />
          </Fact>
        )}
      </dl>
      <div class="row">
        <button type="button" class="quiet" onClick={() => print()}>
          <Icon name="print" />
          {t('receipt.print')}
        </button>
        {explorer !== null && (
          <a class="quiet" href={explorer} target="_blank" rel="noopener noreferrer">
            <Icon name="link" />
            {t('receipt.explorer')}
          </a>
        )}
      </div>
    </div>
  );
}
