import { useId } from 'react';
import { Copy } from './copy.tsx';

/** Code, a command or a body, to read and to copy. */
export function Code({ text, label }: { readonly text: string; readonly label: string }) {
  const id = useId();
  return (
    <figure className="code" aria-labelledby={id}>
      <figcaption className="row apart">
        <span id={id} className="muted small">
          {label}
        </span>
        <Copy text={text} of={label.toLowerCase()} />
      </figcaption>
      {/* What scrolls can be reached by the keyboard. */}
      <pre tabIndex={0} aria-labelledby={id}>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
