// Menus made of one list of entries: under a button, or where something was pressed with the right button.

import "./menu.css";
import * as Context from "@radix-ui/react-context-menu";
import * as Dropdown from "@radix-ui/react-dropdown-menu";
import type { LucideIcon } from "lucide-react";
import { type ReactElement, type ReactNode, useRef, useState } from "react";

export type MenuEntry = {
  readonly label: string;
  readonly icon?: LucideIcon | undefined;
  /** Instead of an icon. */
  readonly sign?: ReactNode;
  /** Marks the entry that is shown now. */
  readonly isChosen?: boolean;
  /** As people write them. */
  readonly keys?: string | undefined;
  readonly act: () => void;
  /** Whether a line is drawn above. */
  readonly isApart?: boolean;
  readonly isDisabled?: boolean;
};

type MenuProps = {
  readonly entries: () => readonly MenuEntry[];
  /** Called after an entry's action: focuses the terminal. Escape focuses the button instead. */
  readonly onDone: () => void;
  readonly children: ReactElement;
};

export type DropdownMenuProps = MenuProps & {
  /** Above the entries. */
  readonly title?: ReactNode;
};

/** @param children The button. */
export function DropdownMenu({ entries, title, onDone, children }: DropdownMenuProps) {
  const { ground, find, close } = useGround(onDone);
  return (
    <Dropdown.Root modal={false}>
      <Dropdown.Trigger asChild ref={find}>
        {children}
      </Dropdown.Trigger>
      <Dropdown.Portal container={ground}>
        <Dropdown.Content
          className="sbx-ground sbx-menu"
          align="end"
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={close.focus}
        >
          {title === undefined ? null : <Dropdown.Label className="sbx-menu-title">{title}</Dropdown.Label>}
          <Entries entries={entries} parts={OF_DROPDOWN} onAct={close.acted} />
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

/** @param children What is pressed. @param isOff Whether the browser's own menu comes, or none. */
export function ContextMenu({ entries, onDone, isOff = false, children }: MenuProps & { readonly isOff?: boolean }) {
  const { ground, find, close } = useGround(onDone);
  return (
    <Context.Root modal={false}>
      <Context.Trigger asChild ref={find} disabled={isOff}>
        {children}
      </Context.Trigger>
      <Context.Portal container={ground}>
        <Context.Content className="sbx-ground sbx-menu" collisionPadding={8} onCloseAutoFocus={close.focus}>
          <Entries entries={entries} parts={OF_CONTEXT} onAct={close.acted} />
        </Context.Content>
      </Context.Portal>
    </Context.Root>
  );
}

/** Both kinds have the same parts. Each is named, since whole modules would bring kinds of entries that no menu has. */
type Parts = { readonly Item: typeof Dropdown.Item; readonly Separator: typeof Dropdown.Separator };
const OF_DROPDOWN: Parts = { Item: Dropdown.Item, Separator: Dropdown.Separator };
const OF_CONTEXT: Parts = { Item: Context.Item, Separator: Context.Separator };

type EntriesProps = {
  readonly entries: () => readonly MenuEntry[];
  readonly parts: Parts;
  readonly onAct: () => void;
};

/** Its own component: entries are made when the menu is opened. */
function Entries({ entries, parts: { Item, Separator }, onAct }: EntriesProps) {
  return entries().map(({ label, icon: Icon, sign = <span />, keys, act, isApart, isChosen, isDisabled = false }) => (
    <div key={label} role="none">
      {isApart === true ? <Separator className="sbx-menu-line" /> : null}
      <Item
        className="sbx-menu-entry"
        disabled={isDisabled}
        aria-current={isChosen}
        onSelect={() => {
          onAct();
          act();
        }}
      >
        {Icon === undefined ? sign : <Icon size={16} aria-hidden />}
        <span>{label}</span>
        {keys === undefined ? null : <kbd>{keys}</kbd>}
      </Item>
    </div>
  ));
}

/** The page around a trigger, in whose colours the menu is drawn, and where the focus goes as it closes. */
function useGround(onDone: () => void) {
  const [ground, setGround] = useState<HTMLElement | null>(null);
  const hasActed = useRef(false);
  return {
    ground,
    find: (trigger: HTMLElement | null) => {
      if (trigger !== null) setGround(trigger.closest<HTMLElement>(".sbx-page") ?? document.body);
    },
    close: {
      acted: () => {
        hasActed.current = true;
      },
      focus: (event: Event) => {
        if (!hasActed.current) return;
        hasActed.current = false;
        event.preventDefault();
        onDone();
      },
    },
  };
}
