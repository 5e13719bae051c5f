import { useSyncExternalStore } from 'react';

const SHOWN_MS = 6_000;
const SHOWN_MAX = 3;

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'good' | 'bad';
}

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function set(next: readonly Toast[]): void {
  toasts = next;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Tells of what was done, for a few seconds. */
export function notify(text: string, kind: Toast['kind'] = 'good'): void {
  const id = ++lastId;
  set([...toasts, { id, text, kind }].slice(-SHOWN_MAX));
  setTimeout(() => set(toasts.filter((toast) => toast.id !== id)), SHOWN_MS);
}

/** Where `notify` shows its texts; screen readers read them out. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, kind }) => (
        <div key={id} className={`toast ${kind}`}>
          {text}
        </div>
      ))}
    </div>
  );
}
