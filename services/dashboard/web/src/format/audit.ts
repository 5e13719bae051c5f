import type { Of } from '../api/types.ts';

export type AuditEntry = Of<'listAudit'>['entries'][number];

const LABELS = {
  'password.reset': 'Password set by a link',
  'password.changed': 'Password changed',
  'second_factor.begun': 'Second factor begun',
  'second_factor.enabled': 'Second factor on',
  'second_factor.disabled': 'Second factor off',
  'passkey.added': 'Passkey added',
  'passkey.renamed': 'Passkey renamed',
  'passkey.removed': 'Passkey removed',
  'identity.linked': 'Single sign-on linked',
  'identity.unlinked': 'Single sign-on unlinked',
  'token.created': 'Token created',
  'token.revoked': 'Token revoked',
  'device.approved': 'Program connected',
  'device.denied': 'Program denied',
  'account.created': 'Account created',
  'account.renamed': 'Account renamed',
  'account.plan_changed': 'Plan changed',
  'settings.changed': 'Settings changed',
  'member.invited': 'Person invited',
  'member.joined': 'Invitation accepted',
  'member.role_changed': 'Role changed',
  'member.removed': 'Member removed',
  'invitation.withdrawn': 'Invitation withdrawn',
  'key.created': 'Key created',
  'key.revoked': 'Key revoked',
  'secret.shown': 'Webhook secret shown',
  'secret.rotated': 'Webhook secret replaced',
  'endpoint.created': 'Webhook added',
  'endpoint.updated': 'Webhook changed',
  'endpoint.removed': 'Webhook removed',
  'endpoint.enabled': 'Webhook enabled',
  'endpoint.secret_rotated': 'Webhook secret rotated',
  'endpoint.tested': 'Test event sent',
  'delivery.retried': 'Delivery sent again',
  'replay.created': 'Replay begun',
  'sponsor.set': 'Sponsor set',
  'sponsor.removed': 'Sponsor removed',
  'replay.cancelled': 'Replay cancelled',
  'intent.created': 'Payment created',
  'intent.updated': 'Payment changed',
  'intent.cancelled': 'Payment cancelled',
  'intent.refunded': 'Refund created',
  'intent.detected': 'Payer reported',
  'intent.paymaster_asked': 'Paymaster asked',
  'intent.challenged': 'MPP payment requested',
  'intent.built': 'Transaction built',
  'intent.submitted': 'Transaction submitted',
  'intent.simulated': 'State simulated',
  'attention.done': 'Marked as done',
  'attention.reopened': 'Opened again',
  'deposit.ignored': 'Deposit ignored',
  'deposit.reopened': 'Deposit reopened',
  'deposit.assigned': 'Deposit assigned',
  'deposit.unassigned': 'Deposit unassigned',
  'payment_link.created': 'Payment link created',
  'payment_link.cancelled': 'Payment link cancelled',
  'payment_link.chosen': 'Way to pay chosen',
  'privacy.erased': 'Personal data erased',
  'secrets.encrypted': 'Secrets encrypted again',
  'ledger.rebuilt': 'Ledger rebuilt',
  'ledger.imported': 'Ledger imported',
  'positions.reset': 'Positions reset',
  'watch.rescanned': 'Blocks read again',
  'watch.split': 'Network split into shards',
  'dead_letters.replayed': 'Dead letters published again',
};
/** What was done, in a few words. */
export const ACTIONS: Readonly<Record<AuditEntry['action'], string>> = LABELS;
export const ACTION_NAMES = Object.keys(ACTIONS) as readonly AuditEntry['action'][];

/** What was changed, by name: `role: viewer → support`. */
export function changesOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => {
      const [was, is] = [textOf(before?.[name]), textOf(after?.[name])];
      return was === null ? `${name}: ${is ?? 'none'}` : `${name}: ${was} → ${is ?? 'none'}`;
    })
    .join(', ');
}

const textOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : JSON.stringify(value);
