import { short } from '../format/money.ts';
import { written } from './written.tsx';

/** What the shop has written on a payment or a payment link, or else its id. */
export function Purpose({
  of: { id, metadata },
}: {
  readonly of: { readonly id: string; readonly metadata: Readonly<Record<string, unknown>> | null };
}) {
  const [first, ...rest] = Object.entries(metadata ?? {});
  if (!first) return <code className="muted">{short(id)}</code>;
  return (
    <span className="clipped">
      {written(`${first[0]}: ${String(first[1])}`)}
      {rest.length > 0 && <span className="muted"> +{rest.length}</span>}
    </span>
  );
}
