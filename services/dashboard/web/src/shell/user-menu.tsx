import { CircleUser } from 'lucide-react';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { dashboard } from '../api/client.ts';
import { queryClient } from '../api/query-client.ts';
import { Button } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { useTask } from '../ui/task.ts';
import { useHere } from './place.ts';
import { chooseTheme, chosenTheme, type Theme, THEMES } from './theme.ts';

const LABELS: Readonly<Record<Theme, string>> = { system: 'As the system', light: 'Light', dark: 'Dark' };

/** The person: their profile, the colors, the way out. */
export function UserMenu() {
  const { user } = useHere();
  const [theme, setTheme] = useState(chosenTheme);
  const [, navigate] = useLocation();
  const [signOut] = useTask(async () => {
    await dashboard('post', '/sign-out');
    queryClient.clear();
    navigate('~/sign-in');
  });
  return (
    <Menu
      label="You"
      button={<Button look="quiet" icon={<CircleUser size={20} />} aria-label={`You: ${user.name}`} />}
      entries={[
        {
          id: 'profile',
          text: 'Profile and security',
          label: (
            <span>
              <strong>{user.name}</strong>
              <br />
              <span className="muted small">Profile and security</span>
            </span>
          ),
          run: () => navigate('/profile'),
        },
        ...THEMES.map((one, index) => ({
          id: one,
          apart: index === 0,
          text: LABELS[one],
          label: (
            <span className="grow">
              {LABELS[one]}
              {one === theme && <span className="muted small"> · chosen</span>}
            </span>
          ),
          run: () => {
            chooseTheme(one);
            setTheme(one);
          },
        })),
        { id: 'sign-out', apart: true, label: 'Sign out', run: () => signOut() },
      ]}
    />
  );
}
