import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Role } from '../api/types.ts';
import { Empty } from '../ui/loaded.tsx';
import { Page } from '../ui/page.tsx';
import { hasRole, useHere } from './place.ts';

const PLURALS: Readonly<Record<Role, string>> = {
  owner: 'owners',
  developer: 'developers',
  support: 'support',
  viewer: 'viewers',
};

const who = (roles: readonly Role[]): string => new Intl.ListFormat('en').format(roles.map((role) => PLURALS[role]));

/** Says why something that others can do here is not offered. @param can "create payments" */
export function RoleNote({ roles, can }: { readonly roles: readonly Role[]; readonly can: string }) {
  const here = useHere();
  if (hasRole(here, roles)) return null;
  return (
    <p className="role-note muted small">
      <Lock size={14} aria-hidden />
      <span>
        Your role is {here.membership.role}. Only {who(roles)} can {can}.
      </span>
    </p>
  );
}

/** A page for some roles. The others are told whom to ask. */
export function OnlyFor({
  roles,
  title,
  children,
}: {
  readonly roles: readonly Role[];
  readonly title: string;
  readonly children: ReactNode;
}) {
  const here = useHere();
  if (hasRole(here, roles)) return children;
  const { name, role } = here.membership;
  return (
    <Page title={title}>
      <Empty title={`Only ${who(roles)} can open this page`} icon={<Lock size={28} aria-hidden />}>
        Your role in {name} is {role}. An owner of the account can give you another one.
      </Empty>
    </Page>
  );
}
