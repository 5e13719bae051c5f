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
  ['payment-links', 'Payment links'],
  ['attention', 'Needs attention'],
  ['developers/quickstart', 'Quickstart'],
  ['developers/keys', 'API keys'],
  ['developers/endpoints', 'Webhooks'],
  ['developers/deliveries', 'Webhooks'],
  ['developers/replays', 'Webhooks'],
  ['developers/events', 'Events'],
  ['developers/requests', 'Requests'],
  ['team', 'Team'],
  ['settings', 'Settings'],
  ['audit', 'Audit log'],
  ['profile', 'Profile and security'],
] as const;

/** Pages of one thing, which the tests have to make first. */
const OF_ONE = ['payment', 'payment-link', 'endpoint'] as const;

const nameOf = (path: string): string => path.replace(/^\//, '').replaceAll('/', '-');

/** The name of each screenshot in docs/guide/dashboard, without its colors. */
export const SCREENSHOTS: readonly string[] = [
  ...OUTSIDE.map(([path]) => nameOf(path)),
  ...INSIDE.map(([path]) => nameOf(path)),
  ...OF_ONE,
];
export const COLORS = ['light', 'dark'] as const;

/** Where the screenshots are, from the root of the repository. */
export const SCREENSHOT_FOLDER = 'docs/guide/dashboard';
export const screenshotNamed = nameOf;
