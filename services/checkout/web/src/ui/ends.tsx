import { allowedReturn } from '../api/link.ts';
import type { Merchant } from '../api/schemas.ts';
import { useTranslator } from './context.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly merchant: Merchant | null;
  readonly name: string;
  readonly returnUrl: string | null;
  /** Where another offer can be chosen; null if there is nothing to choose. */
  readonly offersUrl: string | null;
  /** Whether nothing is left to do here. */
  readonly isDone: boolean;
}

/** The ways out of the page: to the other offers, to the shop, and to help. */
export function Ends({ merchant, name, returnUrl, offersUrl, isDone }: Props) {
  const t = useTranslator();
  const [way, support] = [allowedReturn(returnUrl, merchant?.returnOrigins ?? []), supportOf(merchant)];
  if (way === null && support === null && offersUrl === null) return null;
  return (
    <p class="row ends">
      {offersUrl !== null && (
        <a class="quiet" href={offersUrl}>
          <Icon name="back" />
          {t('back.offers')}
        </a>
      )}
      {way !== null && (
        <a class={isDone ? 'primary' : 'quiet'} href={way} target="_top" rel="noreferrer">
          <Icon name="back" />
          {t('back.do', { merchant: name })}
        </a>
      )}
      {support !== null && (
        <a class="quiet" href={support} target="_blank" rel="noopener noreferrer">
          {t('back.support', { merchant: name })}
        </a>
      )}
    </p>
  );
}

/** Only a page on the web: the setting allows nothing else, and neither does this page. */
function supportOf(merchant: Merchant | null): string | null {
  const url = merchant?.supportUrl ?? null;
  return url !== null && URL.canParse(url) && new URL(url).protocol === 'https:' ? url : null;
}
