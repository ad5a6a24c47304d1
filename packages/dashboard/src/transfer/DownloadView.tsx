// A download's progress, and the question before a program's download.

import { useSyncExternalStore } from "react";
import { defined } from "sandbox-stdio/core";
import { useTexts } from "../texts/texts-context.ts";
import { preview } from "../ui/clipboard.ts";
import type { Downloads } from "./downloads.ts";

export type DownloadViewProps = { readonly downloads: Downloads; readonly onDone: () => void };

export function DownloadView({ downloads, onDone }: DownloadViewProps) {
  const { state } = useSyncExternalStore(downloads.subscribe, downloads.getState);
  const words = useTexts().download;
  if (state.kind === "idle") return null;
  const close = () => {
    if (state.kind === "receiving") downloads.cancel();
    else downloads.dismiss();
    onDone();
  };
  return (
    <section className="sbx-upload" aria-label={words.label}>
      {state.kind === "receiving" ? (
        <>
          <span role="status">{words.receiving(state.path)}</span>
          <progress
            aria-label={words.label}
            {...defined({
              max: state.totalBytes === undefined ? undefined : Math.max(1, state.totalBytes),
              value: state.totalBytes === undefined ? undefined : state.receivedBytes,
            })}
          />
          <span className="sbx-found">{words.progress(state.receivedBytes, state.totalBytes)}</span>
        </>
      ) : state.kind === "partial" ? (
        <span role="status">{words.partial(state.path, state.skipped)}</span>
      ) : (
        <span role="status">{words.failed[state.end](state.path, state.reason)}</span>
      )}
      <button type="button" className="sbx-button" onClick={close}>
        {state.kind === "receiving" ? words.cancel : words.dismiss}
      </button>
    </section>
  );
}

/** A program names a file, and the person decides. */
export function DownloadToast({ downloads, onDone }: DownloadViewProps) {
  const { request } = useSyncExternalStore(downloads.subscribe, downloads.getState);
  const words = useTexts().download;
  if (request === undefined) return null;
  const answer = (isYes: boolean) => () => {
    downloads.answer(request, isYes);
    onDone();
  };
  return (
    // Keyed by request so that React remounts the buttons and a late click can't hit the next one.
    <section className="sbx-toast sbx-clipboard" key={request.count} aria-label={words.label}>
      <p role="status">{words.wants}</p>
      <pre>{preview(request.path)}</pre>
      <div className="sbx-answers">
        <button type="button" className="sbx-button sbx-primary" onClick={answer(true)}>
          {words.save}
        </button>
        <button type="button" className="sbx-button" onClick={answer(false)}>
          {words.ignore}
        </button>
      </div>
    </section>
  );
}
