import type { Status, Tone } from '../pay/status.ts';
import { useTranslator } from './context.ts';
import { Icon, type IconName } from './icon.tsx';
import { Words } from './words.tsx';

const ICONS: Readonly<Record<Exclude<Tone, 'busy'>, IconName>> = {
  calm: 'clock',
  good: 'check',
  warn: 'alert',
  bad: 'cross',
};

interface Props {
  readonly status: Status;
  readonly params: Readonly<Record<string, string>>;
}

/** Where the payment is. It stays in place, so that screen readers say each change once. */
export function StatusLine({ status: { key, tone }, params }: Props) {
  const t = useTranslator();
  const title = t(`status.${key}.title`, params);
  return (
    <div class={`status ${tone}`}>
      <span class="mark" key={tone}>
        {tone === 'busy' ? <span class="spinner" /> : <Icon name={ICONS[tone]} />}
      </span>
      <div role="status" class="words">
        {/* Other words are another element, as in `Words`. */}
        <strong key={title}>{title}</strong>
        <Words text={t(`status.${key}.text`, params)} />
      </div>
    </div>
  );
}
