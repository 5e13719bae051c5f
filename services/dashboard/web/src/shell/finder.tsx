import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { Link } from 'wouter';
import { type Found, meaningsOf } from '../format/search.ts';
import { Dialog } from '../ui/dialog.tsx';
import { usePages } from './nav.tsx';

/** Finds pages by their name, and payments by whatever is known of them. */
export function Finder({ onClose }: { readonly onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const pages = usePages().flatMap(({ entries }) =>
    entries.map(({ label, page }): Found => ({ label, href: `/${page}` })),
  );
  const found = [
    ...meaningsOf(typed),
    ...pages.filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase())),
  ];
  /** The arrow keys go through the input and the links. */
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const stops = [...(frame.current?.querySelectorAll<HTMLElement>('input, a') ?? [])];
    if (event.key === 'Enter' && document.activeElement instanceof HTMLInputElement) {
      event.preventDefault();
      stops[1]?.click();
    }
    if (step === undefined || stops.length === 0) return;
    event.preventDefault();
    const at = stops.findIndex((stop) => stop === document.activeElement);
    stops[(at + step + stops.length) % stops.length]?.focus();
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      {/* The keys are those of the input and the links inside. */}
      <div ref={frame} className="stack" onKeyDown={onKeyDown} role="presentation">
        <input
          className="input"
          aria-label="Search"
          aria-describedby={id}
          placeholder="pi_…, pl_…, wallet, transaction, order=A-1001"
          autoFocus
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <p id={id} className="muted small" role="status">
          {found.length === 0
            ? 'Nothing has this name. Paste an id, a wallet, a transaction, or metadata as key=value.'
            : 'Enter opens the first. The arrow keys go to the others.'}
        </p>
        <ul className="finder">
          {found.map(({ label, href }) => (
            <li key={href}>
              <Link href={href} onClick={onClose} className="wrap">
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
