import { createContext, use } from 'react';
import type { Mode, Place } from '../api/client.ts';
import type { Membership, Role, Session } from '../api/types.ts';

/** Where the person is: an account of theirs, in a mode. */
export interface Here extends Place {
  readonly user: Session['user'];
  readonly membership: Membership;
  readonly memberships: readonly Membership[];
}

export const HereContext = createContext<Here | null>(null);

export function useHere(): Here {
  const here = use(HereContext);
  if (!here) throw new Error('This component is not inside an account.');
  return here;
}

/** Who manages the team, who may change things, and who may help with payments, as the API has it. */
export const OWNERS: readonly Role[] = ['owner'];
export const DEVELOPERS: readonly Role[] = ['owner', 'developer'];
export const SUPPORT: readonly Role[] = [...DEVELOPERS, 'support'];

/** Whether the person has one of these roles in the account. */
export const hasRole = ({ membership }: Here, roles: readonly Role[]): boolean => roles.includes(membership.role);

export const isMode = (text: string | undefined): text is Mode => text === 'test' || text === 'live';

/** The path of a page of an account, from the root. */
export const pathTo = ({ accountId, mode }: Place, page = 'home'): string => `/accounts/${accountId}/${mode}/${page}`;

const LAST = 'last-account';

/** The account that was open last in this browser. */
export const lastAccount = (): string | null => localStorage.getItem(LAST);
export const rememberAccount = (accountId: string): void => localStorage.setItem(LAST, accountId);
