/** The pages that need no account: path and heading. */
export const OUTSIDE = [
  ['/sign-in', 'Sign in'],
  ['/sign-up', 'Create your account'],
  ['/forgot-password', 'Set a new password'],
  ['/reset-password', 'Set a new password'],
  ['/verify-email', 'Confirm your e-mail address'],
  ['/accept-invitation', 'You are invited'],
  ['/device', 'Connect a program'],
] as const;

/** The pages of an account: path and heading. */
export const INSIDE = [
  ['home', 'Home'],
  ['payments', 'Payments'],
  ['attention', 'Needs attention'],
  ['developers/quickstart', 'Quickstart'],
  ['developers/keys', 'API keys'],
  ['developers/endpoints', 'Webhooks'],
  ['developers/deliveries', 'Webhooks'],
  ['developers/replays', 'Webhooks'],
  ['developers/events', 'Events'],
  ['developers/requests', 'Requests'],
  ['team', 'Team'],
  ['audit', 'Audit log'],
  ['profile', 'Profile and security'],
] as const;
