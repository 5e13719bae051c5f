/**
 * What requests to others say of themselves: some providers and firewalls refuse those that say nothing, or name a
 * library. Webhooks have a name of their own.
 */
export const USER_AGENT = 'PaymentIntents/1.0';
