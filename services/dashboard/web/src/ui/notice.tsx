import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';

const ICONS = { bad: CircleAlert, good: CircleCheck, info: Info, warn: TriangleAlert } as const;

/** What a person should know here and now. A failure is read out at once. */
export function Notice({
  kind,
  title,
  action,
  children,
}: {
  readonly kind: keyof typeof ICONS;
  readonly title?: string;
  readonly action?: ReactNode;
  readonly children?: ReactNode;
}) {
  const Icon = ICONS[kind];
  return (
    <div className={`notice ${kind}`} role={kind === 'bad' ? 'alert' : undefined}>
      <Icon size={18} aria-hidden />
      <div>
        {title !== undefined && <strong>{title}</strong>}
        {children !== undefined && <div>{children}</div>}
      </div>
      {action}
    </div>
  );
}
