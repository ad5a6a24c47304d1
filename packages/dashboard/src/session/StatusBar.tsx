// The bar under the terminal: the connection, its remedies, and the session.

import { Accessibility, EyeOff, FolderTree, History, Scaling, Upload } from "lucide-react";
import type { ReactNode } from "react";
import type { Remedy, Status } from "../connection/status.ts";
import { useTexts } from "../texts/texts-context.ts";

export type StatusBarProps = {
  readonly status: Status;
  readonly place: string;
  /** With the session's own name. */
  readonly placeTitle: string;
  readonly size: string;
  /** Whether the terminal has another size than the one that fits. */
  readonly isFramed: boolean;
  /** The people whose windows set that size. */
  readonly sizedBy: readonly string[];
  /** Makes this window's size the terminal's; undefined: it already counts, or can't. */
  readonly onUseSize: (() => void) | undefined;
  readonly ports: ReactNode;
  readonly link: string | undefined;
  readonly isScreenReaderMode: boolean;
  /** Whether secret input is on; undefined if nothing can be typed. */
  readonly isSecret: boolean | undefined;
  readonly onSecret: (isOn: boolean) => void;
  /** undefined: this person may not upload. */
  readonly onUpload: (() => void) | undefined;
  /** undefined: this person sees no files. */
  readonly onFiles: (() => void) | undefined;
  readonly isBrowsing: boolean;
  /** undefined: there is no recording. */
  readonly onRecording: (() => void) | undefined;
  readonly isRecordingShown: boolean;
  readonly isRedacted: boolean;
  readonly onRemedy: (remedy: Remedy) => void;
  readonly onScreenReaderMode: (isOn: boolean) => void;
  readonly remedies: readonly Remedy[];
};

export function StatusBar(props: StatusBarProps) {
  const { status } = props;
  const { bar: words, recording, remedy: remedyWords, remedyKey: keys, status: statusWords } = useTexts();
  const isOthers = props.isFramed && props.sizedBy.length > 0;
  const sizeTitle = isOthers ? words.sizedByTitle(props.sizedBy) : props.isFramed ? words.framedSize : words.size;
  return (
    <footer className="sbx-bar" data-tone={status.tone} data-state={status.name}>
      <span className="sbx-dot" aria-hidden="true" />
      <span className="sbx-words" title={status.detail}>
        <span role="status">{status.words}</span>
        {status.seconds === undefined ? null : (
          <span className="sbx-seconds"> {statusWords.seconds(status.seconds)}</span>
        )}
      </span>
      {props.remedies.map((remedy) => (
        <button type="button" className="sbx-button" key={remedy} onClick={() => props.onRemedy(remedy)}>
          {remedyWords[remedy]}
          {remedy === "again" || remedy === "close" ? <kbd> {keys[remedy]}</kbd> : null}
        </button>
      ))}
      <span className="sbx-link">{props.link}</span>
      <span className="sbx-place" title={props.placeTitle}>
        {props.place}
      </span>
      <span className="sbx-size" data-framed={props.isFramed} title={sizeTitle}>
        {props.size}
        {isOthers ? ` ${words.sizedBy(props.sizedBy)}` : ""}
      </span>
      {props.onUseSize === undefined ? null : (
        <button type="button" className="sbx-quiet" title={words.useSize} onClick={props.onUseSize}>
          <Scaling size={14} aria-hidden />
          <span>{words.useSize}</span>
        </button>
      )}
      {props.ports}
      {props.isSecret === undefined ? null : (
        <button
          type="button"
          className="sbx-quiet sbx-secret"
          aria-pressed={props.isSecret}
          title={props.isSecret ? words.secretOnTitle : words.secretTitle}
          onClick={() => props.onSecret(!props.isSecret)}
        >
          <EyeOff size={14} aria-hidden />
          <span>{props.isSecret ? words.secretOn : words.secret}</span>
        </button>
      )}
      {props.onRecording === undefined ? null : (
        <button
          type="button"
          className="sbx-quiet sbx-reader"
          aria-pressed={props.isRecordingShown}
          title={props.isRedacted ? recording.openRedactedTitle : recording.openTitle}
          onClick={props.onRecording}
        >
          <History size={14} aria-hidden />
          <span>{recording.open}</span>
        </button>
      )}
      {props.onFiles === undefined ? null : (
        <button
          type="button"
          className="sbx-quiet sbx-reader sbx-browse"
          aria-pressed={props.isBrowsing}
          title={words.filesTitle}
          onClick={props.onFiles}
        >
          <FolderTree size={14} aria-hidden />
          <span>{words.files}</span>
        </button>
      )}
      {props.onUpload === undefined ? null : (
        <button
          type="button"
          className="sbx-quiet sbx-reader sbx-choose"
          title={words.uploadTitle}
          onClick={props.onUpload}
        >
          <Upload size={14} aria-hidden />
          <span>{words.upload}</span>
        </button>
      )}
      <button
        type="button"
        className="sbx-quiet sbx-reader"
        aria-pressed={props.isScreenReaderMode}
        title={words.readerTitle}
        onClick={() => props.onScreenReaderMode(!props.isScreenReaderMode)}
      >
        <Accessibility size={14} aria-hidden />
        <span>{words.reader}</span>
      </button>
    </footer>
  );
}
