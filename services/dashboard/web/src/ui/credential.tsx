import { Badge } from './badge.tsx';
import { Choice } from './field.tsx';
import type { Column } from './table.tsx';
import { Time } from './time.tsx';

/** What API keys and personal tokens have in common. */
interface Credential {
  readonly name: string | null;
  readonly hint: string;
  readonly status: 'active' | 'expired' | 'revoked';
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
}

const LABELS = { active: 'Active', expired: 'Expired', revoked: 'Revoked' } as const;
const timeOrNever = (at: string | null) => (at === null ? 'Never' : <Time at={at} />);

/** The columns of a table of credentials. */
export const CREDENTIAL = {
  name: {
    title: 'Name',
    cell: ({ name, hint }) => (
      <>
        <div className="wrap">{name ?? 'Without a name'}</div>
        <code className="muted">{hint}</code>
      </>
    ),
  },
  status: {
    title: 'Status',
    cell: ({ status }) => <Badge tone={status === 'active' ? 'good' : 'plain'}>{LABELS[status]}</Badge>,
  },
  lastUsed: { title: 'Last used', from: 'phone', cell: ({ lastUsedAt }) => timeOrNever(lastUsedAt) },
  expires: { title: 'Expires', from: 'tablet', cell: ({ expiresAt }) => timeOrNever(expiresAt) },
} as const satisfies Readonly<Record<string, Column<Credential>>>;

const DAY_MS = 86_400_000;
const EXPIRIES = [
  ['7', 'In 7 days'],
  ['30', 'In 30 days'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
] as const;

/** The field `days`: when a new credential expires. */
export const ExpiryChoice = ({ orNever = false }: { readonly orNever?: boolean }) => (
  <Choice
    label="Expires"
    name="days"
    options={orNever ? [['', 'Never'], ...EXPIRIES] : EXPIRIES}
    initial={orNever ? '' : '90'}
  />
);

/** The time that an ExpiryChoice stands for. */
export const expiryIn = (days: string): string => new Date(Date.now() + Number(days) * DAY_MS).toISOString();
