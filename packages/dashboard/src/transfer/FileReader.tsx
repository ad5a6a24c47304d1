// A file of the sandbox in a dialog: its text with line numbers, or a picture. Its bytes are never markup of the page.

import { useState } from "react";
import { useTexts } from "../texts/texts-context.ts";
import { preview } from "../ui/clipboard.ts";
import { Dialog } from "../ui/Dialog.tsx";
import type { FileContent } from "./file-content.ts";
import type { Shown } from "./file-tree.ts";

/** A window in which long lines are wrapped at first, in pixels. */
const NARROW = 640;

export type FileReaderProps = {
  readonly shown: Shown;
  readonly onDownload: () => void;
  readonly onClose: () => void;
};

export function FileReader({ shown: { path, content }, onDownload, onClose }: FileReaderProps) {
  const words = useTexts().files;
  const [isWrapped, setWrapped] = useState(window.innerWidth < NARROW);
  const [copied, setCopied] = useState(words.copy);
  const failed = content !== undefined && "failed" in content ? content.failed : undefined;
  const file = content === undefined || "failed" in content ? undefined : content;
  const text = file?.text?.shown;
  const copy = (shown: string) =>
    navigator.clipboard.writeText(shown).then(
      () => setCopied(words.copied),
      () => setCopied(words.notCopied),
    );
  return (
    <Dialog title={preview(path.slice(path.lastIndexOf("/") + 1))} onClose={onClose} className="sbx-file-reader">
      <p className="sbx-reader-path">
        <bdi>{preview(path)}</bdi>
      </p>
      {file === undefined ? (
        <p role="status">{failed === undefined ? words.reading : words.failed(failed)}</p>
      ) : (
        <Content path={path} file={file} isWrapped={isWrapped} />
      )}
      <div className="sbx-answers">
        {text === undefined ? null : (
          <>
            <button
              type="button"
              className="sbx-button"
              aria-pressed={isWrapped}
              onClick={() => setWrapped(!isWrapped)}
            >
              {words.wrap}
            </button>
            <button type="button" className="sbx-button" onClick={() => void copy(text)}>
              {copied}
            </button>
          </>
        )}
        <button type="button" className={`sbx-button${text === undefined ? " sbx-primary" : ""}`} onClick={onDownload}>
          {words.download}
        </button>
        <button type="button" className="sbx-button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

type ContentProps = { readonly path: string; readonly file: FileContent; readonly isWrapped: boolean };

function Content({ path, file, isWrapped }: ContentProps) {
  const words = useTexts().files;
  /** The size of a picture in words, "" if it can't be drawn. */
  const [pixels, setPixels] = useState<string>();
  const { text, picture, bytes, date } = file;
  const isDrawn = picture !== undefined && pixels !== "";
  const lines = text === undefined || text.shown === "" ? [] : text.shown.replace(/\n$/, "").split("\n");
  const size =
    text !== undefined && text.bytes < bytes
      ? words.part(text.bytes, bytes)
      : text === undefined && !isDrawn
        ? words.notText(bytes)
        : words.size(bytes);
  return (
    <>
      <p role="status">{[size, date, pixels].filter(Boolean).join(" · ")}</p>
      {isDrawn ? (
        <img
          src={picture}
          alt={preview(path)}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setPixels(words.pixels(naturalWidth, naturalHeight))
          }
          onError={() => setPixels("")}
        />
      ) : null}
      {lines.length === 0 ? null : (
        <pre className={isWrapped ? "" : "sbx-unwrapped"}>
          {lines.map((line, index) => (
            <span key={index}>{`${line}\n`}</span>
          ))}
        </pre>
      )}
    </>
  );
}
