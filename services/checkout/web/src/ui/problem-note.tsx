import type { Problem, ProblemKind } from '../pay/problem.ts';
import type { Note } from '../pay/status.ts';
import { useTranslator } from './context.ts';
import { Icon } from './icon.tsx';
import { Words } from './words.tsx';

interface Props {
  readonly problem: Problem;
  readonly note: Note;
  readonly params: Readonly<Record<string, string>>;
  /** Lets the person pay the network fee that the merchant's sponsor was to pay; null where that does not help. */
  readonly onOwnFee: (() => void) | null;
}

const WITH_REASON: readonly ProblemKind[] = [
  'balance',
  'fee',
  'rejected',
  'wallet_failed',
  'wallet_not_payable',
  'recipient_not_payable',
];

/** What went wrong and what helps. What chains and wallets say is in English, whatever the page's language is. */
export function ProblemNote({ problem: { kind, params: own }, note, params, onOwnFee }: Props) {
  const t = useTranslator();
  const all = { ...params, ...own };
  const title = t(`problem.${kind}.title`, all);
  const reason = WITH_REASON.includes(kind) ? own['reason'] : '';
  return (
    <div class="note" role="alert">
      <Icon name="alert" />
      <div class="words">
        <strong key={title}>{title}</strong>
        {note.help && <Words text={t(note.help, all)} />}
        {note.money && <Words text={t(note.money, all)} />}
        {reason && (
          <span key={reason} class="reason small" lang="en" dir="ltr">
            {reason}
          </span>
        )}
        {onOwnFee && (
          <button type="button" class="secondary" onClick={onOwnFee}>
            {t('pay.own_fee')}
          </button>
        )}
      </div>
    </div>
  );
}
