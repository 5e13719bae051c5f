import type { ReactNode } from 'react';
import { House, KeyRound, type LucideIcon, Users } from 'lucide-react';
import { Link, useRoute } from 'wouter';
import type { Role } from '../api/types.ts';
import { hasRole, useHere } from './place.ts';

interface Entry {
  readonly page: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly roles?: readonly Role[];
}

/** Every page of an account that the navigation leads to. */
const GROUPS: readonly { readonly title: string | null; readonly entries: readonly Entry[] }[] = [
  {
    title: null,
    entries: [{ page: 'home', label: 'Home', icon: House }],
  },
  {
    title: 'Developers',
    entries: [{ page: 'developers/keys', label: 'API keys', icon: KeyRound, roles: ['owner', 'developer'] }],
  },
  {
    title: 'Account',
    entries: [{ page: 'team', label: 'Team', icon: Users }],
  },
];

export function usePages(): readonly { readonly title: string | null; readonly entries: readonly Entry[] }[] {
  const here = useHere();
  return GROUPS.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ roles }) => roles === undefined || hasRole(here, roles)),
  }));
}

export function Nav({ onLeave }: { readonly onLeave?: (() => void) | undefined }) {
  return (
    <nav aria-label="Pages" className="nav">
      {usePages().map(({ title, entries }) => (
        <div key={title ?? ''}>
          {title !== null && <h2 className="nav-title">{title}</h2>}
          <ul>
            {entries.map(({ page, label, icon: Icon }) => (
              <li key={page}>
                <NavLink page={page} onLeave={onLeave}>
                  <Icon size={17} aria-hidden />
                  {label}
                </NavLink>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function NavLink({
  page,
  onLeave,
  children,
}: {
  readonly page: string;
  readonly onLeave: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const [isHere] = useRoute(`/${page}/*?`);
  return (
    <Link href={`/${page}`} aria-current={isHere ? 'page' : undefined} onClick={onLeave}>
      {children}
    </Link>
  );
}
