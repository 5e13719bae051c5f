import { type ChainFamily, families } from '@pf/chains/networks';
import { useQuery } from '@tanstack/react-query';
import { dashboard } from '../../api/client.ts';
import { queryClient } from '../../api/query-client.ts';
import { sessionQuery } from '../../api/session.ts';
import { saveSettings, settingsQuery } from '../../api/settings.ts';
import type { Of, SettingsChanges } from '../../api/types.ts';
import { PLANS } from '../../format/plans.ts';
import { DEVELOPERS, hasRole, OWNERS, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Dialog, DialogButton } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Field } from '../../ui/field.tsx';
import { type Fields, Form } from '../../ui/form.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { notify } from '../../ui/toasts.tsx';
import { Branding } from './branding.tsx';

type Shown = Of<'getSettings'>['settings'];

/** By family of networks: one wallet is paid on each network of its family. */
const FAMILIES = Object.entries(families) as [ChainFamily, (typeof families)[ChainFamily]][];

export default function Settings() {
  const here = useHere();
  const query = useQuery(settingsQuery(here.accountId));
  return (
    <Page
      title="Settings"
      about="How those who pay see you, and where you are paid. They hold in test and in live mode."
    >
      <RoleNote roles={DEVELOPERS} can="change these settings" />
      <Account />
      <Loaded query={query}>
        {({ settings }) =>
          hasRole(here, DEVELOPERS) ? (
            // Saving one part leaves what is written in the others.
            <Forms key={here.accountId} settings={settings} />
          ) : (
            <ReadOnly settings={settings} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Account() {
  const here = useHere();
  const { accountId } = here;
  const query = useQuery({
    queryKey: ['account', accountId],
    queryFn: ({ signal }) => dashboard('get', '/accounts/{accountId}', { params: { accountId }, signal }),
  });
  return (
    <Section
      title="Account"
      actions={
        hasRole(here, OWNERS) && (
          <DialogButton label="Rename">
            {(close) => (
              <Dialog title="Rename the account" onClose={close}>
                <Form
                  submit="Rename"
                  cancel={<Button onPress={close}>Cancel</Button>}
                  run={async (field) => {
                    const body = { name: field('name').trim() };
                    await dashboard('patch', '/accounts/{accountId}', { params: { accountId }, body });
                    await Promise.all([query.refetch(), queryClient.invalidateQueries(sessionQuery)]);
                    close();
                  }}
                >
                  <Field
                    label="Name"
                    name="name"
                    maxLength={100}
                    isRequired
                    autoFocus
                    defaultValue={query.data?.account.name ?? ''}
                    hint="Your team sees it. Payers do, too, as long as the branding has no name."
                  />
                </Form>
              </Dialog>
            )}
          </DialogButton>
        )
      }
    >
      <Loaded query={query}>
        {({ account }) => (
          <Facts
            rows={[
              ['Name', <span className="wrap">{account.name}</span>],
              [
                'Id',
                <span className="copied">
                  <code>{account.id}</code>
                  <Copy text={account.id} of="the id of the account" />
                </span>,
              ],
            ]}
          />
        )}
      </Loaded>
      <Loaded query={query} outline={null}>
        {({ account }) => <Plans current={account.plan} />}
      </Loaded>
    </Section>
  );
}

const Plans = ({ current }: { readonly current: keyof typeof PLANS }) => (
  <>
    <h3>Plan</h3>
    <p className="muted small">
      It limits live mode: test mode has everything. Each plan has what those before it have. To change it, ask whoever
      runs this service for you.
    </p>
    <Table
      label="Plans"
      rows={Object.keys(PLANS) as (keyof typeof PLANS)[]}
      keyOf={(name) => name}
      columns={[
        {
          title: 'Plan',
          cell: (name) => (
            <span className="row">
              <span className="capital">{name}</span>
              {name === current && <Badge tone="good">Yours</Badge>}
            </span>
          ),
        },
        {
          title: 'In live mode',
          cell: (name) => Object.values(PLANS[name].features).join(', '),
        },
        { title: 'Requests a minute', end: true, cell: (name) => PLANS[name].requests.toLocaleString('en') },
      ]}
    />
  </>
);

function Forms({ settings: { branding, wallets, returnOrigins } }: { readonly settings: Shown }) {
  const { accountId, membership } = useHere();
  const save = async (changes: SettingsChanges): Promise<void> => {
    await saveSettings(accountId, changes);
    notify('The settings are saved.');
  };
  return (
    <>
      <Section title="Branding" about="On the pages on which people pay you.">
        <Branding name={membership.name} branding={branding} onSave={(changes) => save({ branding: changes })} />
      </Section>
      <Section
        title="Wallets"
        about="New payments in the dashboard suggest them. The keys stay with you: the service never holds money."
      >
        <div className="card narrow">
          <Form
            submit="Save wallets"
            look="plain"
            run={(field) =>
              save({
                wallets: Object.fromEntries(FAMILIES.map(([family]) => [family, filled(field, `wallets.${family}`)])),
              })
            }
          >
            {FAMILIES.map(([family, { label, addressHint }]) => (
              <Field
                key={family}
                label={label}
                name={`wallets.${family}`}
                mono
                maxLength={100}
                placeholder={addressHint}
                defaultValue={wallets[family] ?? ''}
              />
            ))}
          </Form>
        </div>
      </Section>
      <Section
        title="Return origins"
        about="Where payers may be sent back to after paying. Other addresses are refused."
      >
        <div className="card narrow">
          <Form
            submit="Save origins"
            look="plain"
            run={(field) =>
              save({
                returnOrigins: field('returnOrigins')
                  .split(/\s+/)
                  .filter((line) => line !== ''),
              })
            }
          >
            <Field
              label="Origins"
              name="returnOrigins"
              lines={4}
              mono
              placeholder="https://shop.example"
              defaultValue={returnOrigins.join('\n')}
              hint="One a line, at most 20: https://, or http://localhost for tests."
            />
          </Form>
        </div>
      </Section>
    </>
  );
}

/** Empty fields remove their value. */
const filled = (field: Fields, name: string): string | null => field(name).trim() || null;

function ReadOnly({ settings: { branding, wallets, returnOrigins } }: { readonly settings: Shown }) {
  const none = <span className="muted">Not set</span>;
  return (
    <>
      <Section title="Branding">
        <Facts
          rows={[
            ['Name', branding.name ?? none],
            ['Logo', branding.logo === null ? none : <img className="logo" src={branding.logo} alt="The logo" />],
            ['Accent color', branding.accentColor ?? none],
            ['Support', branding.supportUrl === null ? none : <span className="wrap">{branding.supportUrl}</span>],
          ]}
        />
      </Section>
      <Section title="Wallets">
        <Facts
          rows={FAMILIES.map(([family, { label }]) => [
            label,
            wallets[family] === null ? none : <code className="wrap">{wallets[family]}</code>,
          ])}
        />
      </Section>
      <Section title="Return origins">
        {returnOrigins.length === 0 ? <p>{none}</p> : <p className="wrap">{returnOrigins.join(', ')}</p>}
      </Section>
    </>
  );
}
