import { useEffect, useState } from 'preact/hooks';
import { useTranslator } from './context.ts';
import { Icon } from './icon.tsx';

const SHOWN_MS = 2_000;

/** Copies a text. @param what its name, for those who do not see where the button stands */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const t = useTranslator();
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    // Refused where the page is not in front; the text stands beside the button.
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return (
    <span class="copy">
      <button type="button" class="quiet round" aria-label={t('copy.do', { what })} onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
      <span role="status" class={isCopied ? 'copied' : 'hidden'}>
        {isCopied ? t('copy.done') : ''}
      </span>
    </span>
  );
}
