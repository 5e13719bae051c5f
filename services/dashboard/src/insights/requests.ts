import type { LoggedRequest } from '@pf/contracts/dashboard';
import type { ListedRequest } from '@pf/database';

/** A record as the API shows it. */
export const shownRequest = ({
  at,
  keyId,
  keyHint,
  keyName,
  userId,
  userName,
  ...request
}: ListedRequest): LoggedRequest => ({
  ...request,
  at: at.toISOString(),
  key: keyId === null ? null : { id: keyId, hint: keyHint, name: keyName },
  person: userId === null ? null : { id: userId, name: userName },
});
