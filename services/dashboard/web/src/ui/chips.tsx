import { X } from 'lucide-react';

/** What narrows a list down, each with a button that takes it away. */
export const Chips = ({
  chips,
}: {
  readonly chips: readonly { readonly label: string; readonly remove: () => void }[];
}) =>
  chips.length > 0 && (
    <ul className="row" aria-label="Filters">
      {chips.map(({ label, remove }) => (
        <li key={label} className="chip">
          <span className="wrap">{label}</span>
          <button type="button" aria-label={`Remove the filter ${label}`} onClick={remove}>
            <X size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  );
