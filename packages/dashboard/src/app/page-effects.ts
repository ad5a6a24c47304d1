// Keeps the document's title, the address, and the stored layout and names up to date.

import { useEffect } from "react";
import { focusedTarget } from "../workspace/layout.ts";
import type { Page, PageState } from "./page.ts";

type ReadyState = Extract<PageState, { phase: "ready" }>;

export function usePageEffects(page: Page, { workspace, rights }: ReadyState, isListed: boolean, title: string): void {
  const { layout, isAlone, elsewhere } = workspace.getState();
  const target = focusedTarget(layout);
  const hasNames = rights.mayOpenAnother;
  useEffect(() => {
    if (isListed && hasNames) void workspace.loadNames();
  }, [workspace, isListed, hasNames]);
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (!isAlone && target !== undefined) page.focused(target, elsewhere === 0);
  }, [page, isAlone, elsewhere, target]);
  useEffect(() => {
    const stop = new AbortController();
    window.addEventListener("pagehide", () => workspace.flush(), { signal: stop.signal });
    return () => stop.abort();
  }, [workspace]);
}
