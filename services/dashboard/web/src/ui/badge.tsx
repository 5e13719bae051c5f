import type { ReactNode } from 'react';

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'info' | 'accent';

/** A word about the state of something. */
export function Badge({ tone = 'plain', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
