import type { PaymentLink } from '../../api/types.ts';
import type { Tone } from '../../ui/badge.tsx';

/** The states of a payment link. */
export const LINK_STATES = {
  open: { label: 'Open', tone: 'info', means: 'Waits for a payer to choose a network and to pay.' },
  paid: { label: 'Paid', tone: 'good', means: 'Paid. What else its payers had begun is cancelled.' },
  expired: { label: 'Expired', tone: 'plain', means: 'The time ran out before a payment.' },
  cancelled: { label: 'Cancelled', tone: 'plain', means: 'You have cancelled it.' },
} as const satisfies Readonly<
  Record<PaymentLink['state'], { readonly label: string; readonly tone: Tone; readonly means: string }>
>;
