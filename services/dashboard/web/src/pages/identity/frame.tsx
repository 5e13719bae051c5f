import type { ReactNode } from 'react';
import { Brand } from '../../shell/brand.tsx';
import { Page } from '../../ui/page.tsx';

/** A page for persons who are not signed in yet. */
export function Frame({
  title,
  about,
  foot,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <main className="lonely">
      <Brand />
      <div className="card">
        <Page title={title} about={about}>
          {children}
        </Page>
      </div>
      {foot !== undefined && <p className="muted small centered">{foot}</p>}
    </main>
  );
}
