import { useState } from 'react';
import { Link } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { useSession } from '../../api/session.ts';
import { curlSteps, typescriptSteps } from '../../format/quickstart.ts';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Choice } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Once } from '../../ui/once.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { useTask } from '../../ui/task.ts';

const LANGUAGES = [
  ['curl', 'Shell'],
  ['typescript', 'TypeScript'],
] as const;
type Language = (typeof LANGUAGES)[number][0];

/** From nothing to a paid test payment, with commands that hold a key of the reader. */
export default function Quickstart() {
  const here = useHere();
  const { accountId, mode } = here;
  const session = useSession();
  const [key, setKey] = useState<string>();
  const [language, setLanguage] = useState<Language>('curl');
  const [create, isCreating] = useTask(async () => {
    const { secret } = await dashboard('post', '/accounts/{accountId}/keys', {
      params: { accountId },
      body: { name: 'Quickstart', mode: 'test', scope: 'full' },
    });
    setKey(secret);
    await queryClient.invalidateQueries({ queryKey: ['keys', accountId] });
  });
  const apiUrl = session.data?.apiUrl ?? '';
  const steps = (language === 'curl' ? curlSteps : typescriptSteps)({ apiUrl, key: key ?? 'pk_test_…' });
  return (
    <Page
      title="Quickstart"
      about="From a key to a paid test payment in five minutes. Open Payments beside it, and see each step appear."
      actions={<Choice label="Language" hideLabel options={LANGUAGES} value={language} onChange={setLanguage} />}
    >
      {mode === 'live' && (
        <Notice kind="info" title="Begin in test mode">
          The same code works with a live key. Only simulating a payment does not: then a wallet has to pay.
        </Notice>
      )}
      <Section title="1. Your key" about="A program proves with it that it may use your account.">
        {key !== undefined ? (
          <>
            <Once text={key} of="the key" />
            <p className="muted small">
              It is in the commands below until you leave this page, and is not shown again. Revoke it under{' '}
              <Link href="/developers/keys">API keys</Link> when you are done.
            </p>
          </>
        ) : hasRole(here, DEVELOPERS) ? (
          <div className="row">
            <Button look="main" isPending={isCreating} onPress={() => create()}>
              Create a test key and put it in
            </Button>
            <span className="muted small">Or put one of yours where it says pk_test_… below.</span>
          </div>
        ) : (
          <p className="muted">Ask an owner or a developer of the account for a test key.</p>
        )}
      </Section>
      {steps.map(({ title, about, code, label }, index) => (
        <Section key={title} title={`${index + 2}. ${title}`} about={about}>
          <Code text={code} label={label} />
        </Section>
      ))}
      <Section title="Then">
        <ul className="bullets">
          <li>
            <Link href="/developers/endpoints">Add a webhook</Link>, so that your program is told of each payment.
          </li>
          <li>Let a wallet pay: on test networks with test tokens, by the link or the QR code that your app shows.</li>
          <li>
            <a href={`${apiUrl}/docs`} target="_blank" rel="noreferrer">
              Read the reference of the API
            </a>
            , and try each request there.
          </li>
        </ul>
      </Section>
    </Page>
  );
}
