/** Everything that the audit log records, and what it means. */
export const AUDIT_ACTIONS = {
  'person.registered': 'A person has signed up.',
  'person.email_confirmed': 'A person has confirmed their e-mail address.',
  'session.begun': 'A person has signed in.',
  'session.ended': 'A person has signed out, or has ended one of their sessions.',
  'password.reset_requested': 'A link to set a new password was mailed.',
  'password.reset': 'A person has set a new password with a mailed link.',
  'password.changed': 'A person has changed their password.',
  'second_factor.begun': 'A person has begun to set up a second factor.',
  'second_factor.enabled': 'A person signs in with a second factor from now on.',
  'second_factor.disabled': 'A person signs in without a second factor from now on.',
  'passkey.added': 'A person can sign in with another passkey.',
  'passkey.renamed': 'A passkey was renamed.',
  'passkey.removed': 'A person has removed a passkey.',
  'identity.linked': 'A person can now also sign in at the identity provider.',
  'identity.unlinked': 'A person no longer signs in with one of their identities at a provider.',
  'token.created': 'A person has created a personal token.',
  'token.revoked': 'A person has revoked a personal token, or has signed out with it.',
  'device.approved': 'A person has approved a personal token for a program.',
  'device.denied': 'A person has denied a personal token for a program.',
  'account.created': 'An account was created.',
  'account.renamed': 'The account was renamed.',
  'account.plan_changed': 'The plan of the account was changed.',
  'settings.changed': 'The branding, wallets or return origins of the account were changed.',
  'member.invited': 'A person was invited.',
  'member.joined': 'A person has accepted an invitation.',
  'member.role_changed': 'The role of a member was changed.',
  'member.removed': 'A member was removed.',
  'invitation.withdrawn': 'An invitation was withdrawn.',
  'key.created': 'An API key was created.',
  'key.revoked': 'An API key was revoked.',
  'secret.shown': 'An operator was shown the webhook secret of the account.',
  'secret.rotated': 'The webhook secret of the account was replaced.',
  'endpoint.created': 'A webhook endpoint was created.',
  'endpoint.updated': 'A webhook endpoint was changed, paused or resumed.',
  'endpoint.removed': 'A webhook endpoint was removed.',
  'endpoint.enabled': 'A webhook endpoint that had failed was enabled.',
  'endpoint.secret_rotated': 'The secret of a webhook endpoint was replaced.',
  'endpoint.tested': 'A test event was sent.',
  'sponsor.set': 'The sponsor of a chain was set.',
  'sponsor.removed': 'The sponsor of a chain was removed.',
  'delivery.retried': 'A delivery was sent again.',
  'replay.created': 'A replay of deliveries was created.',
  'replay.cancelled': 'A replay was cancelled.',
  'intent.created': 'A payment intent was created.',
  'intent.updated': 'A payment intent was changed.',
  'intent.cancelled': 'A payment intent was cancelled.',
  'intent.refunded': 'A refund was created.',
  'intent.detected': 'A payer was reported as found.',
  'intent.paymaster_asked': 'The paymaster was asked to pay the gas of a smart account.',
  'intent.challenged': 'A payment by the Machine Payments Protocol was requested.',
  'intent.built': 'A transaction was built.',
  'intent.submitted': 'A signed transaction was submitted.',
  'intent.simulated': 'A state was simulated.',
  'attention.done': 'A payment that needed attention was marked as done.',
  'attention.reopened': 'A payment that was marked as done needs attention again.',
  'deposit.ignored': 'A deposit was ignored.',
  'deposit.reopened': 'An ignored deposit was reopened.',
  'deposit.assigned': 'A deposit was assigned to a payment intent.',
  'deposit.unassigned': 'The assignment of a deposit was undone.',
  'payment_link.created': 'A payment link was created.',
  'payment_link.cancelled': 'A payment link was cancelled.',
  'payment_link.chosen': 'An offer of a payment link was chosen.',
  'privacy.erased': 'The personal data of a payment intent, or of all of the account, was erased.',
  // By operators, outside any account.
  'secrets.encrypted': 'All webhook secrets were encrypted with another key.',
  'ledger.rebuilt': 'A partition of the projection was rebuilt from the log.',
  'ledger.imported': 'Events of the archive were appended to a partition of the log.',
  'positions.reset': 'The webhook service was set to read the log again from an earlier time.',
  'watch.rescanned': 'The watcher of a network was set to rescan blocks.',
  'watch.split': 'The recipients of a network were split into another number of shards.',
  'dead_letters.replayed': 'Dead-lettered observations were published again.',
} as const;
export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** What a person does as themselves that concerns none of their accounts: their logs do not have it. */
export const PRIVATE_ACTIONS = [
  'person.registered',
  'person.email_confirmed',
  'session.begun',
  'session.ended',
  'password.reset_requested',
] as const satisfies readonly AuditAction[];
/**
 * What a person does as themselves that changes who can act for them, and so concerns their accounts: their logs have
 * it, without the address and the browser, which do not.
 */
export const PERSONAL_ACTIONS = [
  'password.reset',
  'password.changed',
  'second_factor.begun',
  'second_factor.enabled',
  'second_factor.disabled',
  'passkey.added',
  'passkey.renamed',
  'passkey.removed',
  'identity.linked',
  'identity.unlinked',
  'token.created',
  'token.revoked',
  'device.approved',
  'device.denied',
] as const satisfies readonly AuditAction[];
type PrivateAction = (typeof PRIVATE_ACTIONS)[number];
/** What the log of an account can have. */
export type ListedAction = Exclude<AuditAction, PrivateAction>;
/** What is recorded about a person, apart from any account. */
export type PersonAction = PrivateAction | (typeof PERSONAL_ACTIONS)[number];

/** What acts: a person with a session, a personal token of theirs, or an operator with `pf`. */
export const AUDIT_ACTORS = ['person', 'token', 'operator'] as const;
export type AuditActorKind = (typeof AUDIT_ACTORS)[number];
