import { Redirect, useLocation } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { sessionQuery, useSession } from '../../api/session.ts';
import { pathTo } from '../../shell/place.ts';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Frame } from './frame.tsx';

export default function NewAccount() {
  const [, navigate] = useLocation();
  const session = useSession();
  return (
    <Frame
      title="Name your business"
      about="Its payments, keys and team are one account, apart from all others. You can rename it later."
    >
      <Loaded query={session}>
        {(signedIn) =>
          signedIn ? (
            <Form
              submit="Create account"
              run={async (field) => {
                const { account } = await dashboard('post', '/accounts', { body: { name: field('name').trim() } });
                await queryClient.invalidateQueries(sessionQuery);
                navigate(pathTo({ accountId: account.id, mode: 'test' }), { replace: true });
              }}
            >
              <Field label="Name" name="name" autoComplete="organization" maxLength={100} isRequired autoFocus />
            </Form>
          ) : (
            <Redirect to="/sign-in?next=/new-account" replace />
          )
        }
      </Loaded>
    </Frame>
  );
}
