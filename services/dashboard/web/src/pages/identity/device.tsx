import { useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { dashboard } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { DeviceRequest, Membership } from '../../api/types.ts';
import { approveWithPasskey, canUsePasskeys } from '../../passkeys/passkeys.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useTask } from '../../ui/task.ts';
import { Time } from '../../ui/time.tsx';
import { CurrentPassword } from '../profile/current-password.tsx';
import { Frame } from './frame.tsx';
import { fromLink } from './link-token.ts';

const STORED = 'device-code';

/** The code of the link, kept for as long as the tab is open: signing in leaves this page. */
function linkedCode(): string {
  const code = fromLink('code');
  if (code !== '') sessionStorage.setItem(STORED, code);
  return code === '' ? (sessionStorage.getItem(STORED) ?? '') : code;
}

type Outcome = 'approved' | 'denied';

/** A person looks at a program that asks for a token of theirs, and approves or denies it. */
export default function Device() {
  const [code] = useState(linkedCode);
  const [request, setRequest] = useState<DeviceRequest>();
  const [outcome, setOutcome] = useState<Outcome>();
  const session = useSession();

  if (outcome === 'approved')
    return (
      <Frame title="Connected">
        <p>Return to your terminal: the program goes on by itself. You can close this page.</p>
      </Frame>
    );
  if (outcome === 'denied')
    return (
      <Frame title="Denied">
        <p>The program gets no access. You can close this page.</p>
      </Frame>
    );
  return (
    <Frame title="Connect a program">
      <Loaded query={session}>
        {(signedIn) => {
          if (!signedIn)
            return (
              <div className="stack">
                <p>Sign in first. Then you see which program asks for access, and decide.</p>
                <div className="row">
                  <ButtonLink look="main" href="/sign-in?next=/device">
                    Sign in
                  </ButtonLink>
                </div>
              </div>
            );
          if (!request) return <EnterCode code={code} onFound={setRequest} />;
          return (
            <Decide
              request={request}
              email={signedIn.user.email}
              memberships={signedIn.memberships}
              onDecided={(decided) => {
                sessionStorage.removeItem(STORED);
                setOutcome(decided);
              }}
            />
          );
        }}
      </Loaded>
    </Frame>
  );
}

function EnterCode({ code, onFound }: { readonly code: string; readonly onFound: (request: DeviceRequest) => void }) {
  return (
    <Form
      submit="Continue"
      run={async (field) => {
        const { device } = await dashboard('get', '/device/requests/{userCode}', {
          params: { userCode: field('code').trim() },
        });
        onFound(device);
      }}
    >
      <Field
        label="Code"
        name="code"
        defaultValue={code}
        autoComplete="off"
        maxLength={20}
        isRequired
        autoFocus
        mono
        hint="The code that your terminal shows. If it shows another one, close this page."
      />
    </Form>
  );
}

function Decide({
  request: { userCode, clientName, address, createdAt },
  email,
  memberships,
  onDecided,
}: {
  readonly request: DeviceRequest;
  readonly email: string;
  readonly memberships: readonly Membership[];
  readonly onDecided: (outcome: Outcome) => void;
}) {
  const [approve, isApproving] = useTask(async () => {
    await approveWithPasskey(userCode);
    onDecided('approved');
  });
  const { data: { passkeys } = {} } = useQuery({
    queryKey: ['passkeys'],
    queryFn: ({ signal }) => dashboard('get', '/passkeys', { signal }),
  });
  const { data: { hasPassword } = {} } = useQuery({
    queryKey: ['identities'],
    queryFn: ({ signal }) => dashboard('get', '/identities', { signal }),
  });
  const [deny, isDenying] = useTask(async () => {
    await dashboard('post', '/device/requests/{userCode}/deny', { params: { userCode } });
    onDecided('denied');
  });
  return (
    <div className="stack">
      <p>
        <strong className="wrap">{clientName}</strong> asks for access as <strong className="wrap">{email}</strong>.
      </p>
      <Facts
        rows={[
          ['Code', <code>{userCode}</code>],
          ['From', address ?? 'Unknown'],
          ['Asked', <Time at={createdAt} />],
        ]}
      />
      <div>
        <p>For 90 days, or until you revoke it in your profile, it may do what you may do:</p>
        <ul>
          {memberships.length === 0 && <li>Nothing yet: you are a member of no account.</li>}
          {memberships.map(({ accountId, name, role }) => (
            <li key={accountId} className="wrap">
              {name}: everything that the role {role} allows, with real money, too
            </li>
          ))}
        </ul>
        <p>It cannot change your password, your second factor, your sessions or your tokens.</p>
      </div>
      <Notice kind="warn" title="Did you start this yourself?">
        Approve only if you did, just now, and your terminal shows this code. Whoever else has sent it to you wants to
        act as you.
      </Notice>
      {hasPassword === false && (
        <Notice kind="info" title="You have no password yet">
          Approving takes one. <a href="/forgot-password">Set a password</a>, with a link that is mailed to you; then
          start again in your terminal.
        </Notice>
      )}
      <Form
        submit="Approve"
        cancel={
          <Button isPending={isDenying} onPress={() => deny()}>
            Deny
          </Button>
        }
        run={async (field) => {
          const body = { password: field('password') };
          await dashboard('post', '/device/requests/{userCode}/approve', { params: { userCode }, body });
          onDecided('approved');
        }}
      >
        <p>To approve, show that it is you:</p>
        <CurrentPassword />
      </Form>
      {canUsePasskeys() && passkeys !== undefined && passkeys.length > 0 && (
        <Button icon={<KeyRound size={18} />} isPending={isApproving} onPress={() => approve()}>
          Approve with a passkey
        </Button>
      )}
    </div>
  );
}
