// An upload's progress, the area to drop files, and refusals.

import { useSyncExternalStore } from "react";
import { useTexts } from "../texts/texts-context.ts";
import { preview } from "../ui/clipboard.ts";
import type { UploadState, Uploads } from "./uploads.ts";

export type UploadViewProps = { readonly uploads: Uploads; readonly onDone: () => void };

export function UploadView({ uploads, onDone }: UploadViewProps) {
  const state = useSyncExternalStore(uploads.subscribe, uploads.getState);
  const words = useTexts().upload;
  if (state.kind === "idle") return null;
  if (state.kind === "hovering") return <div className="sbx-drop">{words.drop}</div>;
  const close = () => {
    if (state.kind === "sending") uploads.cancel();
    else uploads.dismiss();
    onDone();
  };
  return (
    <section className="sbx-upload" aria-label={words.label}>
      <UploadWords state={state} />
      <button type="button" className="sbx-button" onClick={close}>
        {state.kind === "sending" ? words.cancel : words.dismiss}
      </button>
    </section>
  );
}

function UploadWords({ state }: { readonly state: Exclude<UploadState, { kind: "idle" } | { kind: "hovering" }> }) {
  const words = useTexts().upload;
  switch (state.kind) {
    case "refused":
      return <span role="status">{words.refused[state.why]}</span>;
    case "done": {
      const shown = state.renamed.map(({ name, now }) => ({ name: preview(name), now: preview(now) }));
      return <span role="status">{words.done(state.files, shown)}</span>;
    }
    case "failed":
      return <span role="status">{words.failed(state.reason)}</span>;
    case "sending":
      return (
        <>
          <span role="status">{words.sending(state.files, state.directory)}</span>
          <progress aria-label={words.label} max={Math.max(1, state.totalBytes)} value={state.sentBytes} />
          <span className="sbx-found">{words.progress(state.sentBytes, state.totalBytes, state.secondsLeft)}</span>
        </>
      );
  }
}
