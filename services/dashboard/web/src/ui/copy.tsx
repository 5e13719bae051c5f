import { Check, Copy as CopyIcon } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { notify } from './toasts.tsx';

const SHOWN_MS = 2_000;

/** Copies a text. @param of what it is, for screen readers: "the key" */
export function Copy({ text, of, label }: { readonly text: string; readonly of: string; readonly label?: string }) {
  const [copiedAt, setCopiedAt] = useState(0);
  useEffect(() => {
    if (copiedAt === 0) return;
    const timer = setTimeout(() => setCopiedAt(0), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copiedAt]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopiedAt(performance.now());
    } catch {
      // Refused by the person, or the page is not on https:// or localhost.
      notify('The browser did not allow copying. Select the text and copy it yourself.', 'bad');
    }
  };
  const icon = copiedAt === 0 ? <CopyIcon size={15} aria-hidden /> : <Check size={15} aria-hidden />;
  const name = copiedAt === 0 ? `Copy ${of}` : 'Copied';
  return label === undefined ? (
    <Button look="quiet" icon={icon} aria-label={name} onPress={() => void copy()} />
  ) : (
    <Button icon={icon} aria-label={name} onPress={() => void copy()}>
      {copiedAt === 0 ? label : 'Copied'}
    </Button>
  );
}
