import type { ReactNode } from 'react';
import {
  Activity,
  BookOpen,
  CircleAlert,
  FileClock,
  House,
  KeyRound,
  Link2,
  type LucideIcon,
  Radio,
  Settings,
  Users,
  Wallet,
  Webhook,
} from 'lucide-react';
import { Link, useLocation } from 'wouter';
import type { Role } from '../api/types.ts';
import { DEVELOPERS, hasRole, useHere } from './place.ts';

interface Entry {
  readonly page: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly roles?: readonly Role[];
  /** Further pages at which it is the one that is open. */
  readonly also?: readonly string[];
}

/** Every page of an account that the navigation leads to. */
const GROUPS: readonly { readonly title: string | null; readonly entries: readonly Entry[] }[] = [
  {
    title: null,
    entries: [
      { page: 'home', label: 'Home', icon: House },
      { page: 'payments', label: 'Payments', icon: Wallet },
      { page: 'payment-links', label: 'Payment links', icon: Link2 },
      { page: 'attention', label: 'Needs attention', icon: CircleAlert },
    ],
  },
  {
    title: 'Developers',
    entries: [
      { page: 'developers/quickstart', label: 'Quickstart', icon: BookOpen },
      { page: 'developers/keys', label: 'API keys', icon: KeyRound, roles: DEVELOPERS },
      {
        page: 'developers/endpoints',
        label: 'Webhooks',
        icon: Webhook,
        also: ['developers/deliveries', 'developers/replays'],
      },
      { page: 'developers/events', label: 'Events', icon: Radio },
      { page: 'developers/requests', label: 'Requests', icon: Activity, roles: DEVELOPERS },
    ],
  },
  {
    title: 'Account',
    entries: [
      { page: 'team', label: 'Team', icon: Users },
      { page: 'settings', label: 'Settings', icon: Settings },
      { page: 'audit', label: 'Audit log', icon: FileClock, roles: DEVELOPERS },
    ],
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
  const [location] = useLocation();
  const isOpen = (page: string): boolean => location === `/${page}` || location.startsWith(`/${page}/`);
  return (
    <nav aria-label="Pages" className="nav">
      {usePages().map(({ title, entries }) => (
        <div key={title ?? ''}>
          {title !== null && <h2 className="nav-title">{title}</h2>}
          <ul>
            {entries.map(({ page, label, icon: Icon, also = [] }) => (
              <li key={page}>
                <NavLink page={page} isHere={[page, ...also].some(isOpen)} onLeave={onLeave}>
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

const NavLink = ({
  page,
  isHere,
  onLeave,
  children,
}: {
  readonly page: string;
  readonly isHere: boolean;
  readonly onLeave: (() => void) | undefined;
  readonly children: ReactNode;
}) => (
  <Link href={`/${page}`} aria-current={isHere ? 'page' : undefined} onClick={onLeave}>
    {children}
  </Link>
);
