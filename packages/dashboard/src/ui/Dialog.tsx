// A modal <dialog>: it keeps the focus, and Escape or a click beside it closes it.

import { type ReactNode, useId, useLayoutEffect, useRef } from "react";

export type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
};

/** Fields that get the focus back: panes first, since a session's own field lies behind its panes. */
const FOCUS_TARGETS = [
  '.sbx-tmux-pane[data-focus="true"] .xterm-helper-textarea',
  '.sbx-tmux-pane[data-seen="true"] .xterm-helper-textarea',
  ".xterm-helper-textarea",
];

export function Dialog({ title, onClose, children, className = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before painting: a removed element can't return the focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    const terminal = terminalOf(document.activeElement) ?? terminalOf(element) ?? document;
    element?.showModal();
    return () => {
      element?.close();
      // Keys typed next are for the process, not for the button that opened the dialog.
      const field = FOCUS_TARGETS.map((each) => terminal.querySelector(each)).find((each) => each !== null);
      if (field instanceof HTMLElement) field.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser handles Escape.
    <dialog
      className={`sbx-ground sbx-dialog ${className}`}
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Only the backdrop is the dialog itself; its content covers the rest. The end of the double click that opened it closes nothing.
      onClick={(event) => event.target === dialog.current && event.detail < 2 && onClose()}
    >
      <div className="sbx-dialog-content">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

const terminalOf = (element: Element | null) => element?.closest(".sbx-terminal");
