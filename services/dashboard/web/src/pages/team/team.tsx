import { useQuery } from '@tanstack/react-query';
import { Ellipsis, MailPlus } from 'lucide-react';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { sessionQuery } from '../../api/session.ts';
import type { Invitation, Member, Role } from '../../api/types.ts';
import { hasRole, OWNERS, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Field, Radios } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';

type Asked =
  | { readonly what: 'invite' }
  | { readonly what: 'role'; readonly member: Member }
  | { readonly what: 'remove'; readonly member: Member }
  | { readonly what: 'withdraw'; readonly invitation: Invitation };

/** What each role may do, in a few words. */
const ROLES: Readonly<Record<Role, { readonly label: string; readonly hint: string }>> = {
  owner: { label: 'Owner', hint: 'Everything, and manages the team.' },
  developer: { label: 'Developer', hint: 'Payments, keys, webhooks and their secrets.' },
  support: { label: 'Support', hint: 'Cancels and refunds payments, resends webhooks. Sees no keys and secrets.' },
  viewer: { label: 'Viewer', hint: 'Reads, and changes nothing.' },
};
const NAMES = Object.keys(ROLES) as readonly Role[];
const RADIOS = NAMES.map((role) => ({ value: role, ...ROLES[role] }));
const roleNamed = (text: string): Role => NAMES.find((name) => name === text) ?? 'viewer';

export default function Team() {
  const here = useHere();
  const { accountId, user, membership } = here;
  const isOwner = hasRole(here, OWNERS);
  const members = useQuery({
    queryKey: ['members', accountId],
    queryFn: ({ signal }) => dashboard('get', '/accounts/{accountId}/members', { params: { accountId }, signal }),
  });
  const invitations = useQuery({
    queryKey: ['invitations', accountId],
    queryFn: ({ signal }) => dashboard('get', '/accounts/{accountId}/invitations', { params: { accountId }, signal }),
    enabled: isOwner,
  });
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = (): void => setAsked(null);
  const refresh = async (): Promise<void> => {
    await Promise.all([
      queryClient.invalidateQueries({ queryKey: ['members', accountId] }),
      queryClient.invalidateQueries({ queryKey: ['invitations', accountId] }),
    ]);
  };

  return (
    <Page
      title="Team"
      about={`Who works with ${membership.name}, and what they may do.`}
      actions={
        isOwner && (
          <Button look="main" icon={<MailPlus size={16} aria-hidden />} onPress={() => setAsked({ what: 'invite' })}>
            Invite
          </Button>
        )
      }
    >
      <RoleNote roles={OWNERS} can="invite people, change their roles or remove them" />
      <Loaded query={members}>
        {(data) => (
          <Table
            label="Members"
            rows={data.members}
            keyOf={({ userId }) => userId}
            columns={[
              {
                title: 'Name',
                cell: ({ name, email, userId }) => (
                  <>
                    <div className="wrap">
                      {name} {userId === user.id && <Badge>you</Badge>}
                    </div>
                    <div className="muted small wrap">{email}</div>
                  </>
                ),
              },
              { title: 'Role', cell: ({ role }) => ROLES[role].label },
              {
                title: 'Second factor',
                from: 'tablet',
                cell: ({ secondFactor }) =>
                  secondFactor ? <Badge tone="good">On</Badge> : <Badge tone="warn">Off</Badge>,
              },
              { title: 'Since', from: 'phone', cell: ({ createdAt }) => <Time at={createdAt} /> },
              {
                title: 'Actions',
                hideTitle: true,
                end: true,
                cell: (member) =>
                  isOwner && (
                    <Menu
                      label={`Actions for ${member.name}`}
                      button={
                        <Button look="quiet" icon={<Ellipsis size={18} />} aria-label={`Actions for ${member.name}`} />
                      }
                      entries={[
                        { id: 'role', label: 'Change role', run: () => setAsked({ what: 'role', member }) },
                        {
                          id: 'remove',
                          label: member.userId === user.id ? 'Leave the account' : 'Remove',
                          danger: true,
                          run: () => setAsked({ what: 'remove', member }),
                        },
                      ]}
                    />
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {isOwner && (
        <Section title="Open invitations" about="A link is valid for 7 days, for the address that it was sent to.">
          <Loaded query={invitations}>
            {(data) =>
              data.invitations.length === 0 ? (
                <p className="muted">None. Invite the people with whom you share the work.</p>
              ) : (
                <Table
                  label="Open invitations"
                  rows={data.invitations}
                  keyOf={({ id }) => id}
                  columns={[
                    { title: 'E-mail', cell: ({ email }) => <span className="wrap">{email}</span> },
                    { title: 'Role', cell: ({ role }) => ROLES[role].label },
                    { title: 'Expires', from: 'phone', cell: ({ expiresAt }) => <Time at={expiresAt} /> },
                    {
                      title: 'Actions',
                      hideTitle: true,
                      end: true,
                      cell: (invitation) => (
                        <Button
                          aria-label={`Withdraw the invitation of ${invitation.email}`}
                          onPress={() => setAsked({ what: 'withdraw', invitation })}
                        >
                          Withdraw
                        </Button>
                      ),
                    },
                  ]}
                />
              )
            }
          </Loaded>
        </Section>
      )}
      {asked?.what === 'invite' && <Invite onInvited={refresh} onClose={close} />}
      {asked?.what === 'role' && <ChangeRole member={asked.member} onChanged={refresh} onClose={close} />}
      {asked?.what === 'remove' && (
        <Remove
          member={asked.member}
          onClose={close}
          onRemoved={asked.member.userId === user.id ? () => location.assign('/') : refresh}
        />
      )}
      {asked?.what === 'withdraw' && (
        <Confirm
          title="Withdraw this invitation?"
          submit="Withdraw invitation"
          onClose={close}
          run={async () => {
            await dashboard('delete', '/accounts/{accountId}/invitations/{invitationId}', {
              params: { accountId, invitationId: asked.invitation.id },
            });
            await refresh();
          }}
        >
          <p>
            The link that was sent to <strong className="wrap">{asked.invitation.email}</strong> no longer works. You
            can invite them again.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function ChangeRole({
  member: { userId, name, role },
  onChanged,
  onClose,
}: {
  readonly member: Member;
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
}) {
  const { accountId, user } = useHere();
  return (
    <Dialog title={`Role of ${name}`} onClose={onClose}>
      <Form
        submit="Change role"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const next = roleNamed(field('role'));
          await dashboard('patch', '/accounts/{accountId}/members/{userId}', {
            params: { accountId, userId },
            body: { role: next },
          });
          if (userId === user.id) await queryClient.invalidateQueries(sessionQuery);
          await onChanged();
          notify(`${name}: ${ROLES[next].label}.`);
          onClose();
        }}
      >
        <p>The new role holds from their next request on.</p>
        <Radios label="Role" name="role" initial={role} options={RADIOS} />
      </Form>
    </Dialog>
  );
}

function Remove({
  member: { userId, name },
  onRemoved,
  onClose,
}: {
  readonly member: Member;
  readonly onRemoved: () => Promise<void> | void;
  readonly onClose: () => void;
}) {
  const { accountId, user, membership } = useHere();
  const isSelf = userId === user.id;
  return (
    <Confirm
      title={isSelf ? `Leave ${membership.name}?` : `Remove ${name}?`}
      submit={isSelf ? 'Leave the account' : 'Remove member'}
      onClose={onClose}
      run={async () => {
        await dashboard('delete', '/accounts/{accountId}/members/{userId}', { params: { accountId, userId } });
        await onRemoved();
      }}
    >
      <p>
        {isSelf ? 'You lose' : `${name} loses`} access to {membership.name} at once. API keys go on working, whoever has
        created them: revoke those that {isSelf ? 'you' : 'they'} may have copied.
      </p>
    </Confirm>
  );
}

function Invite({ onInvited, onClose }: { readonly onInvited: () => Promise<void>; readonly onClose: () => void }) {
  const { accountId } = useHere();
  return (
    <Dialog title="Invite to the team" onClose={onClose}>
      <Form
        submit="Send invitation"
        cancel={<Button onPress={onClose}>Cancel</Button>}
        run={async (field) => {
          const email = field('email').trim();
          await dashboard('post', '/accounts/{accountId}/invitations', {
            params: { accountId },
            body: { email, role: roleNamed(field('role')) },
          });
          await onInvited();
          notify(`An invitation is on its way to ${email}.`);
          onClose();
        }}
      >
        <Field label="E-mail" name="email" type="email" maxLength={200} isRequired autoFocus />
        <Radios label="Role" name="role" initial="developer" options={RADIOS} />
      </Form>
    </Dialog>
  );
}
