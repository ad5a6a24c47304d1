// A modal dialog on the browser's own <dialog>: it keeps the focus, and Escape or a click beside it closes it.

import { type ReactNode, useId, useLayoutEffect, useRef } from "react";

export type DialogProps = {
  readonly title: string;
  /** Closed without an answer. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly className?: string;
};

/** Where a session has panes, its own field stands behind them, and can't have the focus. */
const TYPED_INTO = [
  '.sbx-tmux-pane[data-focus="true"] .xterm-helper-textarea',
  '.sbx-tmux-pane[data-seen="true"] .xterm-helper-textarea',
  ".xterm-helper-textarea",
];

export function Dialog({ title, onClose, children, className = "" }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the browser paints: an element that is gone can give the focus back to nothing.
  useLayoutEffect(() => {
    const element = dialog.current;
    const terminal = terminalOf(document.activeElement) ?? terminalOf(element) ?? document;
    element?.showModal();
    return () => {
      element?.close();
      // Keys typed after a dialog are meant for the process, not for the button that opened it.
      const field = TYPED_INTO.map((each) => terminal.querySelector(each)).find((each) => each !== null);
      if (field instanceof HTMLElement) field.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the browser's own way to cancel a dialog.
    <dialog
      className={`sbx-ground sbx-dialog ${className}`}
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      // Its content covers it: only its ground around the content is the dialog itself.
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="sbx-dialog-content">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

const terminalOf = (element: Element | null) => element?.closest(".sbx-terminal");
