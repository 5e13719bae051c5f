import { isOfSponsor, type Problem } from '../pay/problem.ts';
import { useTranslator } from './context.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly problem: Problem;
  readonly params: Readonly<Record<string, string>>;
  /** Lets the person pay the network fee that the merchant's sponsor was to pay. */
  readonly onOwnFee?: () => void;
}

/** What went wrong and what helps. What the chain says is in English, whatever the page's language is. */
export function ProblemNote({ problem: { kind, params: own }, params, onOwnFee }: Props) {
  const t = useTranslator();
  const all = { ...params, ...own };
  const reason = ['balance', 'fee', 'rejected', 'wallet_not_payable', 'recipient_not_payable'].includes(kind)
    ? own['reason']
    : '';
  return (
    <div class="note" role="alert">
      <Icon name="alert" />
      <div class="words">
        <strong>{t(`problem.${kind}.title`, all)}</strong>
        <span>{t(`problem.${kind}.text`, all)}</span>
        {reason && (
          <span class="reason small" lang="en" dir="ltr">
            {reason}
          </span>
        )}
        {onOwnFee && isOfSponsor(kind) && (
          <button type="button" class="secondary" onClick={onOwnFee}>
            {t('pay.own_fee')}
          </button>
        )}
      </div>
    </div>
  );
}
