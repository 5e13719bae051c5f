import { useLocation } from 'wouter';
import { pathTo, useHere } from './place.ts';

/** Pages of one object: it is not in the other mode, so the switch leads to the list. */
const OF_ONE = /^(\/payments|\/developers\/endpoints)\/.+$/;

/** Leads to the same page in the other mode. */
export function ModeSwitch() {
  const here = useHere();
  const [location, navigate] = useLocation();
  return (
    <fieldset className="mode-switch">
      <legend className="hidden">Mode</legend>
      {(['test', 'live'] as const).map((mode) => (
        <label key={mode} className={mode}>
          <input
            type="radio"
            name="mode"
            value={mode}
            checked={here.mode === mode}
            onChange={() => {
              const page = location.replace(OF_ONE, '$1').slice(1);
              navigate(`~${pathTo({ accountId: here.accountId, mode }, page)}`);
            }}
          />
          {mode === 'test' ? 'Test' : 'Live'}
        </label>
      ))}
    </fieldset>
  );
}
