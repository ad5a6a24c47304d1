// The Terminal component's session: mounted, kept in step with the properties, and observed.

import { type RefObject, useEffect, useEffectEvent, useMemo, useReducer, useState, useSyncExternalStore } from "react";
import { CLOSE } from "sandbox-stdio/core";
import { type ConnectionFacts, describe, type Status } from "../connection/status.ts";
import { QUIET } from "../output/attention.ts";
import { titleWith } from "../output/program-notices.ts";
import { NO_FACTS } from "../output/shell-facts.ts";
import type { ParticipantsState } from "../sharing/participants-model.ts";
import type { Texts } from "../texts/texts.ts";
import type { PageFacts, TerminalProps } from "./terminal-props.ts";
import { TerminalSession, type View } from "./terminal-session.ts";

/** @returns undefined before the session is mounted. */
export function useSession(
  stage: RefObject<HTMLDivElement | null>,
  props: TerminalProps,
  texts: Texts,
  isScreenReaderMode: boolean,
): TerminalSession | undefined {
  const { wsUrl, token, session, renderer, scheme, theme, font, cursor, hasLigatures, scrollback, alerts, prediction } =
    props;
  const { isOptionMeta } = props;
  const look = useMemo(
    () => ({ scheme, theme, font, cursor, hasLigatures, isOptionMeta, scrollback }),
    [scheme, theme, font, cursor, hasLigatures, isOptionMeta, scrollback],
  );
  const [live, setLive] = useState<TerminalSession>();
  const mount = useEffectEvent((element: HTMLDivElement) => {
    const name = session ?? new URL(wsUrl, location.href).searchParams.get("session") ?? crypto.randomUUID();
    const { resumes, freshCredential, previews, takesFiles, isSized } = props;
    const options = { token, resumes, renderer, freshCredential, look, texts, previews, takesFiles, isSized };
    const made = new TerminalSession(element, { ...options, url: wsUrl, session: name });
    // The owner of several panes focuses one of them.
    if (isSized !== true) made.screen.focus();
    props.onReady?.(made);
    return made;
  });
  // A change of address or name is another session, a change of the token is not.
  useEffect(() => {
    if (stage.current === null) return;
    const made = mount(stage.current);
    setLive(made);
    return () => {
      setLive(undefined);
      made.dispose();
    };
  }, [stage, wsUrl, session, renderer]);

  useEffect(() => live?.connection.setToken(token), [live, token]);
  useEffect(() => {
    if (live !== undefined) live.screen.look = look;
  }, [live, look]);
  useEffect(() => {
    if (live !== undefined) live.attention.alerts = alerts ?? QUIET;
  }, [live, alerts]);
  useEffect(() => {
    if (live !== undefined) live.echo.mode = prediction ?? "auto";
  }, [live, prediction]);
  useEffect(() => {
    if (live !== undefined) live.room.words = texts.people;
  }, [live, texts]);
  useEffect(() => {
    if (live !== undefined) live.screen.isScreenReaderMode = isScreenReaderMode;
  }, [live, isScreenReaderMode]);
  return live;
}

/** The state of a store that may not exist yet. */
export function useSnapshot<State>(
  subscribe: ((listener: () => void) => () => void) | undefined,
  getState: (() => State) | undefined,
): State | undefined {
  return useSyncExternalStore(subscribe ?? neverChanges, getState ?? nothing);
}

const neverChanges = () => () => undefined;
const nothing = () => undefined;

/** Calls back once when the process exits. */
export function useExit(view: View | undefined, onExit: TerminalProps["onExit"]): void {
  const hasEnded = view?.client.phase === "ended";
  const exited = useEffectEvent(() => {
    if (view?.client.phase !== "ended" || view.client.end.kind !== "exit") return;
    const { code, signal } = view.client.end;
    onExit?.(code, signal);
  });
  useEffect(() => {
    if (hasEnded) exited();
  }, [hasEnded]);
}

export function useTitle(
  view: View | undefined,
  people: ParticipantsState | undefined,
  onTitle: TerminalProps["onTitle"],
): void {
  const { title = "", shell = NO_FACTS, sign } = view ?? {};
  const ask = people?.people?.asks.find(({ by }) => by === undefined);
  const end = view?.client.phase === "ended" ? view.client.end : undefined;
  const isGone = end?.kind === "refused" && end.code === CLOSE.notFound;
  const progress = titleWith(view?.progress, "");
  const whole = `${progress}${title}`.trim();
  const changed = useEffectEvent((text: string) =>
    onTitle?.(text, { title, shell, progress, sign, ask, isGone } satisfies PageFacts),
  );
  useEffect(() => changed(whole), [whole, shell, sign, ask, isGone]);
}

/** Whether the browser asks before it closes or reloads the page. */
export function useWarningOnClose(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const stop = new AbortController();
    window.addEventListener("beforeunload", (event) => event.preventDefault(), { signal: stop.signal });
    return () => stop.abort();
  }, [isOn]);
}

/** Before the terminal is mounted. */
const NOT_YET: ConnectionFacts = {
  client: { phase: "connecting", attempt: 0 },
  upstream: "running",
  resumedAtMs: undefined,
  hasMissedOutput: false,
};

/** The status text, refreshed every second while it changes. */
export function useStatus(view: View | undefined, isByLink: boolean, texts: Texts): Status {
  const [, refresh] = useReducer((count: number) => count + 1, 0);
  const status = describe(view ?? NOT_YET, performance.now(), isByLink, texts);
  const { isPassing } = status;
  useEffect(() => {
    if (!isPassing) return;
    const timer = setInterval(refresh, 1000);
    return () => clearInterval(timer);
  }, [isPassing]);
  return status;
}
