import type { ReactElement, ReactNode } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover, Separator } from 'react-aria-components';

export interface MenuEntry {
  readonly id: string;
  readonly label: ReactNode;
  /** For typing ahead, where `label` is not a text. */
  readonly text?: string;
  readonly danger?: boolean;
  /** Whether a line is drawn above it. */
  readonly apart?: boolean;
  readonly run: () => void;
}

/** A list of things to do, behind a button. */
export function Menu({
  label,
  button,
  entries,
}: {
  readonly label: string;
  readonly button: ReactElement;
  readonly entries: readonly MenuEntry[];
}) {
  return (
    <MenuTrigger>
      {button}
      <Popover className="popover" placement="bottom end">
        <AriaMenu className="menu" aria-label={label}>
          {entries.flatMap(({ id, label: text, text: typed, danger, apart, run }) => [
            ...(apart ? [<Separator key={`${id}-line`} />] : []),
            <MenuItem
              key={id}
              id={id}
              className={danger ? 'menu-item danger' : 'menu-item'}
              textValue={typed ?? (typeof text === 'string' ? text : id)}
              onAction={run}
            >
              {text}
            </MenuItem>,
          ])}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
