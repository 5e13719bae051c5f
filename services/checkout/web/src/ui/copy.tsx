import { useEffect, useState } from 'preact/hooks';
import { useTranslator } from './context.ts';
import { Icon } from './icon.tsx';
import { Words } from './words.tsx';

const SHOWN_MS = 2_000;

/** Copies a text, and says so for a moment. */
export function useCopy(text: string): { readonly isCopied: boolean; readonly copy: () => void } {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    // Refused where the page is not in front.
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return { isCopied, copy };
}

/** Copies a text that stands beside it. @param what its name, for those who do not see where the button stands */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const t = useTranslator();
  const { isCopied, copy } = useCopy(text);
  return (
    <span class="copy">
      <button type="button" class="quiet round" aria-label={t('copy.do', { what })} onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} />
      </button>
      <span role="status" class={isCopied ? 'copied' : 'hidden'}>
        <Words text={isCopied ? t('copy.done') : ''} />
      </span>
    </span>
  );
}
