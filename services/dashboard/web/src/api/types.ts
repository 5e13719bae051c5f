import type { OPERATIONS } from '@pf/contracts';
import type { DASHBOARD_OPERATIONS } from '@pf/contracts/dashboard';
import type { z } from 'zod';
import type { PublicResult } from './client.ts';

type Own = typeof DASHBOARD_OPERATIONS;
type Public = typeof OPERATIONS;

/** What an operation of the dashboard's API or of the payment API returns, by its id. */
export type Of<Id extends keyof Own | keyof Public> = Id extends keyof Own
  ? z.output<Own[Id]['response']>
  : Id extends keyof Public
    ? PublicResult<Public[Id]>
    : never;
type Filters<Id extends 'listIntents' | 'listDeliveries'> = Omit<
  z.input<Public[Id]['request']['query']>,
  'limit' | 'cursor'
>;

/** A payment intent, which the pages call a payment. */
export type Payment = Of<'getIntent'>['intent'];
export type State = Payment['state'];
export type PaymentEvent = Of<'intentEvents'>['events'][number];
export type PaymentFilters = Filters<'listIntents'>;
/** Several ways to pay one amount, of which the payer chooses one. */
export type PaymentLink = Of<'getPaymentLink'>['paymentLink'];
/** Money that pays no payment. */
export type Deposit = NonNullable<Of<'listAttention'>['attention'][number]['deposit']>;
export type Delivery = Of<'listDeliveries'>['deliveries'][number];
export type DeliveryFilters = Filters<'listDeliveries'>;
export type Endpoint = Of<'getEndpoint'>['endpoint'];
export type Replay = Of<'getReplay'>['replay'];

export type SettingsChanges = z.input<Own['updateSettings']['body']>;
export type Key = Of<'listKeys'>['keys'][number];
export type Member = Of<'listMembers'>['members'][number];
export type Invitation = Of<'listInvitations'>['invitations'][number];
export type OwnSession = Of<'listSessions'>['sessions'][number];
export type Passkey = Of<'listPasskeys'>['passkeys'][number];
export type Identity = Of<'listIdentities'>['identities'][number];
export type PersonalToken = Of<'listTokens'>['tokens'][number];
export type DeviceRequest = Of<'getDevice'>['device'];
export type Session = Of<'getSession'>;
export type Membership = Session['memberships'][number];
export type Role = Membership['role'];
