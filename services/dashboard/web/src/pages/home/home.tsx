import { Link } from 'wouter';
import { Page } from '../../ui/page.tsx';

export default function Home() {
  return (
    <Page title="Home" about="Begin with a key for your program, then invite those who work with you.">
      <ul className="stack">
        <li>
          <Link href="/developers/keys">API keys</Link>
        </li>
        <li>
          <Link href="/team">Team</Link>
        </li>
      </ul>
    </Page>
  );
}
