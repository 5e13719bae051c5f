import { Link, useRoute } from 'wouter';

const TABS = [
  { page: 'endpoints', label: 'Endpoints' },
  { page: 'deliveries', label: 'Deliveries' },
  { page: 'replays', label: 'Replays' },
] as const;

/** The pages about webhooks. */
export const WebhookTabs = () => (
  <nav aria-label="Webhooks">
    <ul className="tabs">
      {TABS.map(({ page, label }) => (
        <Tab key={page} page={page} label={label} />
      ))}
    </ul>
  </nav>
);

function Tab({ page, label }: { readonly page: string; readonly label: string }) {
  const [isHere] = useRoute(`/developers/${page}/*?`);
  return (
    <li>
      <Link href={`/developers/${page}`} aria-current={isHere ? 'page' : undefined}>
        {label}
      </Link>
    </li>
  );
}
