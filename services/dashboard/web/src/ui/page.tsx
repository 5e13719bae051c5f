import { type ReactNode, useEffect, useRef } from 'react';

/** The first page of a visit keeps the browser's focus; those after it have their heading read out. */
let isFirst = true;

/** A page: its title in the window and as its heading, and what can be done on it. */
export function Page({
  title,
  heading,
  about,
  back,
  actions,
  children,
}: {
  readonly title: string;
  /** Where the heading is more than the title. */
  readonly heading?: ReactNode;
  readonly about?: ReactNode;
  readonly back?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const ref = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!isFirst) ref.current?.focus();
    isFirst = false;
  }, []);
  return (
    <div className="page">
      <title>{`${title} · Payments`}</title>
      {back !== undefined && <div className="back">{back}</div>}
      <div className="page-head">
        <div className="stack tight">
          <h1 ref={ref} tabIndex={-1}>
            {heading ?? title}
          </h1>
          {about !== undefined && <p className="muted about">{about}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a page with a heading. */
export function Section({
  title,
  about,
  actions,
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <section className="stack section">
      <div className="row apart">
        <div>
          <h2>{title}</h2>
          {about !== undefined && <p className="muted small about">{about}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  );
}
