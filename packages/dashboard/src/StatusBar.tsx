// The line under the terminal: the connection in words, what can be done about it, and whose session this is. It draws
// what it is given.

import type { ReactNode } from "react";
import type { Remedy, Status } from "./status.ts";

export type StatusBarProps = {
  readonly status: Status;
  readonly place: string;
  readonly size: string;
  /** The terminal has another size than what fits here. */
  readonly isFramed: boolean;
  readonly link: string | undefined;
  readonly isScreenReaderMode: boolean;
  /** Whether what is typed is kept off the record; undefined where there is nothing to type. */
  readonly isSecret: boolean | undefined;
  readonly onSecret: (isOn: boolean) => void;
  readonly onRemedy: (remedy: Remedy) => void;
  readonly onScreenReaderMode: (isOn: boolean) => void;
  readonly remedies: readonly Remedy[];
  /** What the page around the terminal adds at the end. */
  readonly children?: ReactNode;
};

const SIZE_TITLE = "Columns by rows of the terminal";
const FRAMED_TITLE = "Columns by rows of the terminal: another window on this session is smaller";

const OPEN_TITLE = "Before a password: ask the server to record only how much you type, not what";
const SECRET_TITLE = "The server is asked to record only how much you type. Press to end that";

export const REMEDY_WORDS: Readonly<Record<Remedy, string>> = {
  retry: "Retry now",
  login: "Log in",
  new: "New session",
};

export function StatusBar(props: StatusBarProps) {
  const { status } = props;
  return (
    <footer className="sbx-bar" data-tone={status.tone}>
      <span className="sbx-dot" aria-hidden="true" />
      <span className="sbx-words" title={status.detail}>
        <span role="status">{status.words}</span>
        {status.seconds === undefined ? null : <span className="sbx-seconds"> {status.seconds} s</span>}
      </span>
      {props.remedies.map((remedy) => (
        <button type="button" className="sbx-button" key={remedy} onClick={() => props.onRemedy(remedy)}>
          {REMEDY_WORDS[remedy]}
        </button>
      ))}
      <span className="sbx-link">{props.link}</span>
      <span className="sbx-place">{props.place}</span>
      <span className="sbx-size" data-framed={props.isFramed} title={props.isFramed ? FRAMED_TITLE : SIZE_TITLE}>
        {props.size}
      </span>
      {props.isSecret === undefined ? null : (
        <button
          type="button"
          className="sbx-quiet sbx-secret"
          aria-pressed={props.isSecret}
          title={props.isSecret ? SECRET_TITLE : OPEN_TITLE}
          onClick={() => props.onSecret(!props.isSecret)}
        >
          {props.isSecret ? "Secret input on" : "Secret input"}
        </button>
      )}
      <button
        type="button"
        className="sbx-quiet sbx-reader"
        aria-pressed={props.isScreenReaderMode}
        title="Let a screen reader follow the output"
        onClick={() => props.onScreenReaderMode(!props.isScreenReaderMode)}
      >
        Reader
      </button>
      {props.children}
    </footer>
  );
}
