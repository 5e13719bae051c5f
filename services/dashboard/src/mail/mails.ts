import type { Role } from '@pf/contracts/dashboard';
import type { Mail } from './mailer.ts';

/** The mails of the dashboard. Tokens are in the fragment of a link, which browsers do not send to any server. */
export interface Mails {
  verifyEmail(to: string, token: string): Mail;
  alreadyRegistered(to: string): Mail;
  resetPassword(to: string, token: string): Mail;
  passwordChanged(to: string): Mail;
  identityLinked(to: string, provider: string): Mail;
  identityUnlinked(to: string, provider: string): Mail;
  passkeyAdded(to: string, passkey: string): Mail;
  passkeyRemoved(to: string, passkey: string): Mail;
  invitation(to: string, invitation: { readonly account: string; readonly role: Role; readonly token: string }): Mail;
}

/** @param origin of the dashboard */
export function mailsOf(origin: string): Mails {
  const link = (page: string, token: string): string => `${origin}/${page}#token=${encodeURIComponent(token)}`;
  const ignore = 'If you did not expect this mail, ignore it: nothing happens.';
  const notYou =
    `If that was not you, set a new password at ${origin}/forgot-password: it removes all passkeys and personal ` +
    'tokens, unlinks single sign-on, and signs out everywhere.';
  return {
    verifyEmail: (to, token) => ({
      to,
      subject: 'Confirm your e-mail address',
      text: [
        'To complete your sign-up, open this link within an hour, and enter your password:',
        link('verify-email', token),
        ignore,
      ].join('\n\n'),
    }),
    alreadyRegistered: (to) => ({
      to,
      subject: 'You are registered already',
      text: [
        'A sign-up was tried with your e-mail address, which is registered already.',
        `Sign in at ${origin}/, or set a new password there if you do not remember it.`,
        ignore,
      ].join('\n\n'),
    }),
    resetPassword: (to, token) => ({
      to,
      subject: 'Set a new password',
      text: [
        'To set a new password, open this link within an hour. You are then signed out everywhere.',
        link('reset-password', token),
        ignore,
      ].join('\n\n'),
    }),
    passwordChanged: (to) => ({
      to,
      subject: 'Your password was changed',
      text: [
        `The password with which you sign in at ${origin} was changed. Your passkeys and personal tokens were ` +
          'removed, and you are signed out everywhere else.',
        notYou,
      ].join('\n\n'),
    }),
    identityLinked: (to, provider) => ({
      to,
      subject: 'Single sign-on was connected',
      text: [
        `You have signed in at ${origin} with ${provider} for the first time. It signs you in from now on, as your ` +
          'password does. You can unlink it there, under Profile and security.',
        `If that was not you, tell those who run ${provider} that your account there was used without you.`,
      ].join('\n\n'),
    }),
    identityUnlinked: (to, provider) => ({
      to,
      subject: 'Single sign-on was disconnected',
      text: [
        `Your identity at ${provider} was unlinked: it no longer signs you in at ${origin}. A sign-in with it ` +
          `links it again, as long as ${provider} says that your e-mail address is verified there.`,
        notYou,
      ].join('\n\n'),
    }),
    passkeyAdded: (to, passkey) => ({
      to,
      subject: 'A passkey was added',
      text: [`The passkey "${passkey}" was added. It signs you in at ${origin} without your password.`, notYou].join(
        '\n\n',
      ),
    }),
    passkeyRemoved: (to, passkey) => ({
      to,
      subject: 'A passkey was removed',
      text: [`The passkey "${passkey}" was removed. It no longer signs you in at ${origin}.`, notYou].join('\n\n'),
    }),
    invitation: (to, { account, role, token }) => ({
      to,
      subject: 'An invitation to an account',
      text: [
        `You are invited to the account "${account}", with the role ${role}.`,
        'Sign in or sign up with this e-mail address, then open this link within 7 days:',
        link('accept-invitation', token),
        ignore,
      ].join('\n\n'),
    }),
  };
}
