import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps } from 'react-aria-components';
import { Link } from 'wouter';

/** `main` once a page at most; `danger` for what cannot be undone; `quiet` without a frame. */
type Look = 'plain' | 'main' | 'danger' | 'quiet';

export function Button({
  look = 'plain',
  icon,
  children,
  ...props
}: Omit<ButtonProps, 'children' | 'className'> & {
  readonly look?: Look;
  readonly icon?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <AriaButton {...props} className={`button ${look}${children === undefined ? ' square' : ''}`}>
      {icon}
      {children}
    </AriaButton>
  );
}

/** A link that looks like a button. */
export function ButtonLink({
  look = 'plain',
  icon,
  href,
  children,
}: {
  readonly look?: Look;
  readonly icon?: ReactNode;
  readonly href: string;
  readonly children: ReactNode;
}) {
  return (
    <Link href={href} className={`button ${look}`}>
      {icon}
      {children}
    </Link>
  );
}
