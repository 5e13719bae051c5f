import type { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import type { z } from 'zod';

type Own = typeof DASHBOARD_OPERATIONS;

/** What an operation of the dashboard's API returns, by its id. */
export type Of<Id extends keyof Own> = z.output<Own[Id]['response']>;
export type Key = Of<'listKeys'>['keys'][number];
export type Member = Of<'listMembers'>['members'][number];
export type Invitation = Of<'listInvitations'>['invitations'][number];
export type OwnSession = Of<'listSessions'>['sessions'][number];
export type Session = Of<'getSession'>;
export type Membership = Session['memberships'][number];
export type Role = Membership['role'];
