import { useId, useState } from 'react';
import { LINK_EVENT_TYPES, LINK_EVENTS } from '../../format/deliveries.ts';
import { EVENT_TYPES, EVENTS } from '../../format/states.ts';
import { Tick } from '../../ui/field.tsx';

const SELECTABLE = [...EVENT_TYPES, ...LINK_EVENT_TYPES, 'webhook_endpoint.disabled'] as const;
type Selectable = (typeof SELECTABLE)[number];

function labelOf(type: Selectable): string {
  if (type === 'webhook_endpoint.disabled') return 'Another endpoint was disabled';
  return type in LINK_EVENTS
    ? LINK_EVENTS[type as keyof typeof LINK_EVENTS]
    : EVENTS[type as keyof typeof EVENTS].label;
}

/** The types in a form that has `EventTypes`; null: all, those that are yet to come too. */
export const typesIn = (form: FormData): Selectable[] | null =>
  form.get('events') === 'all' ? null : SELECTABLE.filter((type) => form.getAll('eventTypes').includes(type));

/** Which events an endpoint gets. */
export function EventTypes({ initial }: { readonly initial: readonly string[] | null }) {
  const [isAll, setAll] = useState(initial === null);
  const id = useId();
  return (
    <fieldset className="stack tight">
      <legend>Events</legend>
      {[
        { value: 'all', label: 'All of them', chosen: isAll },
        { value: 'some', label: 'Only these', chosen: !isAll },
      ].map(({ value, label, chosen }) => (
        <div className="tick" key={value}>
          <input
            id={`${id}-${value}`}
            type="radio"
            name="events"
            value={value}
            checked={chosen}
            onChange={() => setAll(value === 'all')}
          />
          <label htmlFor={`${id}-${value}`}>{label}</label>
        </div>
      ))}
      {!isAll && (
        <div className="ticks">
          {SELECTABLE.map((type) => (
            <Tick
              key={type}
              name="eventTypes"
              value={type}
              initial={initial?.includes(type) ?? false}
              label={labelOf(type)}
              hint={<code>{type}</code>}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}
