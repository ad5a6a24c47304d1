// A download as it goes, and the question before one that a program wants.

import { useSyncExternalStore } from "react";
import { useTexts } from "../texts/texts-context.ts";
import { preview } from "../ui/clipboard.ts";
import type { Downloads } from "./downloads.ts";

export type DownloadViewProps = { readonly downloads: Downloads; readonly onDone: () => void };

export function DownloadView({ downloads, onDone }: DownloadViewProps) {
  const { state } = useSyncExternalStore(downloads.subscribe, downloads.getView);
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
            {...(state.totalBytes === undefined
              ? {}
              : { max: Math.max(1, state.totalBytes), value: state.receivedBytes })}
          />
          <span className="sbx-found">{words.progress(state.receivedBytes, state.totalBytes)}</span>
        </>
      ) : state.kind === "partial" ? (
        <span role="status">{words.partial(state.path, state.leftOut)}</span>
      ) : (
        <span role="status">{words.failed[state.end](state.path, state.reason)}</span>
      )}
      <button type="button" className="sbx-button" onClick={close}>
        {state.kind === "receiving" ? words.cancel : words.dismiss}
      </button>
    </section>
  );
}

/** A program asks: it says which file, and a person says whether. */
export function DownloadToast({ downloads, onDone }: DownloadViewProps) {
  const { wish } = useSyncExternalStore(downloads.subscribe, downloads.getView);
  const words = useTexts().download;
  if (wish === undefined) return null;
  const answer = (isYes: boolean) => () => {
    downloads.answer(wish, isYes);
    onDone();
  };
  return (
    // Another wish is another element: a click that was meant for one can't fall on the next.
    <section className="sbx-toast sbx-clipboard" key={wish.count} aria-label={words.label}>
      <p role="status">{words.wants}</p>
      <pre>{preview(wish.path)}</pre>
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
