import { Check, ChevronsUpDown, Plus } from 'lucide-react';
import { useLocation } from 'wouter';
import { Button } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { pathTo, useHere } from './place.ts';

/** The account that is open, and the way to the others. */
export function AccountMenu() {
  const { membership, memberships, mode } = useHere();
  const [, navigate] = useLocation();
  return (
    <Menu
      label="Accounts"
      button={
        <Button aria-label={`Account: ${membership.name}`}>
          <span className="truncated grow start">{membership.name}</span>
          <ChevronsUpDown size={15} aria-hidden />
        </Button>
      }
      entries={[
        ...memberships.map(({ accountId, name, role }) => ({
          id: accountId,
          text: name,
          label: (
            <>
              <span className="truncated grow">{name}</span>
              <span className="muted small">{role}</span>
              {accountId === membership.accountId && <Check size={15} aria-label="open" />}
            </>
          ),
          run: () => navigate(`~${pathTo({ accountId, mode })}`),
        })),
        {
          id: 'new',
          apart: true,
          text: 'New account',
          label: (
            <>
              <Plus size={15} aria-hidden /> New account
            </>
          ),
          run: () => navigate('~/new-account'),
        },
      ]}
    />
  );
}
