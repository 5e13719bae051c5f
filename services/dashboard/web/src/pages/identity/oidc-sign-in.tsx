import { useMutation, useQuery } from '@tanstack/react-query';
import { LogIn } from 'lucide-react';
import { useSearch } from 'wouter';
import { dashboard } from '../../api/client.ts';
import { messageOf } from '../../api/error.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { nextPath } from './link-token.ts';

/** Where a person goes after a sign-in that leads over another site. */
const NEXT = 'pf.sign-in.next';

export function takeNextPath(): string {
  const next = sessionStorage.getItem(NEXT) ?? '/';
  sessionStorage.removeItem(NEXT);
  return next;
}

/** Signs in at the identity provider, where one is set up. */
export function OidcSignIn() {
  const search = useSearch();
  const options = useQuery({
    queryKey: ['sign-in-options'],
    queryFn: ({ signal }) => dashboard('get', '/sign-in/options', { signal }),
    staleTime: Infinity,
  });
  const begin = useMutation({
    mutationFn: () => dashboard('post', '/sign-in/oidc/begin'),
    onSuccess: ({ url }) => {
      sessionStorage.setItem(NEXT, nextPath(search));
      location.assign(url);
    },
  });
  const oidc = options.data?.oidc;
  if (!oidc) return null;
  return (
    <div className="stack">
      {begin.error && <Notice kind="bad">{messageOf(begin.error)}</Notice>}
      <Button
        icon={<LogIn size={18} aria-hidden />}
        isPending={begin.isPending || begin.isSuccess}
        onPress={() => begin.mutate()}
      >
        Continue with {oidc.name}
      </Button>
    </div>
  );
}
