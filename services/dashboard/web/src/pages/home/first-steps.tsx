import { Link } from 'wouter';
import { DEVELOPERS, hasRole, useHere } from '../../shell/place.ts';
import { RoleNote } from '../../shell/roles.tsx';
import { ButtonLink } from '../../ui/button.tsx';

/** What a new account does first. */
export function FirstSteps() {
  const here = useHere();
  const isDeveloper = hasRole(here, DEVELOPERS);
  return (
    <section className="card stack first-steps" aria-labelledby="first-steps">
      <h2 id="first-steps">{here.mode === 'test' ? 'Your first test payment' : 'Your first live payment'}</h2>
      <ol className="steps">
        <li>
          <strong>{here.mode === 'test' ? 'Create a payment and simulate how it is paid' : 'Create a payment'}</strong>
          <p className="muted">
            {here.mode === 'test'
              ? 'Here in the dashboard, in a minute, without a wallet: you see every state and every event.'
              : 'With the same code as in test mode, and a live key.'}
          </p>
          {isDeveloper ? (
            <ButtonLink look="main" href="/payments?new">
              New payment
            </ButtonLink>
          ) : (
            <RoleNote roles={DEVELOPERS} can="create payments" />
          )}
        </li>
        <li>
          <strong>Do the same with the API</strong>
          <p className="muted">
            The <Link href="/developers/quickstart">quickstart</Link> has the commands, ready to be run.
          </p>
        </li>
        <li>
          <strong>Let your programs know</strong>
          <p className="muted">
            <Link href="/developers/endpoints">Add a webhook</Link>: it gets each event, signed and at least once.
          </p>
        </li>
        <li>
          <strong>Invite those who work with you</strong>
          <p className="muted">
            <Link href="/team">Your team</Link> has roles for developers, for support and for those who only read.
          </p>
        </li>
      </ol>
    </section>
  );
}
