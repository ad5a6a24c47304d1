// The whole page, drawn from its state. It decides nothing.

import { type ReactNode, useSyncExternalStore } from "react";
import { OwnKeysContext } from "../keys/own-keys.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { takeFocus } from "../terminal/terminal-keys.ts";
import type { Scheme } from "../terminal/theme.ts";
import { useScheme } from "../terminal/use-scheme.ts";
import type { Texts } from "../texts/texts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { firstSteps } from "./FirstSteps.tsx";
import type { Page } from "./page.ts";
import type { LinkAction } from "./page-address.ts";
import { WorkspacePage } from "./WorkspacePage.tsx";

export type AppProps = {
  readonly page: Page;
  /** With `?debug=1`: receives the focused session. */
  readonly onDebug?: (session: TerminalSession) => void;
};

export function App({ page, onDebug }: AppProps) {
  const words = useTexts().page;
  const { scheme: chosen, theme, keys } = useSyncExternalStore(page.preferences.subscribe, page.preferences.get);
  const scheme = useScheme(chosen, theme?.colours);
  const state = useSyncExternalStore(page.subscribe, page.getState);
  const isOnline = useSyncExternalStore(onNetwork, () => navigator.onLine);
  switch (state.phase) {
    case "asking":
      return <Card scheme={scheme} title={words.name} text={words.asking} />;
    case "anonymous":
      return (
        <Card scheme={scheme} title={words.name} text={state.reason ?? words.anonymous}>
          <a className="sbx-button sbx-primary" href={state.loginUrl}>
            {words.logIn}
          </a>
          <p className="sbx-fine sbx-keys-hint">{firstSteps(words, keys)}</p>
        </Card>
      );
    case "unreachable":
      return (
        <Card
          scheme={scheme}
          title={isOnline ? words.unreachable : words.offline}
          text={isOnline ? state.reason : words.offlineText}
        >
          <button type="button" className="sbx-button sbx-primary" onClick={() => void page.start()}>
            {words.tryAgain}
          </button>
        </Card>
      );
    case "confirming":
      return (
        <Card scheme={scheme} title={words.runThis} text={words.asksToStart(state.address.sandbox)}>
          <pre>{state.address.actions.map((request) => actionText(request, words)).join("\n")}</pre>
          <button type="button" className="sbx-button sbx-primary" onClick={() => page.confirm()}>
            {words.run}
          </button>
          <p className="sbx-fine">{words.onlyIfTrusted}</p>
        </Card>
      );
    case "closed": {
      const { sandbox, session } = state.address;
      return (
        <Card scheme={scheme} title={words.closed} text={words.closedText(`${sandbox} / ${session}`)}>
          <button type="button" className="sbx-button sbx-primary" ref={takeFocus} onClick={() => page.open()}>
            {words.openAgain}
          </button>
          <button type="button" className="sbx-button" onClick={() => page.newSession()}>
            {words.newSession}
          </button>
        </Card>
      );
    }
    case "ready":
      return (
        <OwnKeysContext value={keys}>
          <WorkspacePage key={state.address.search} page={page} state={state} onDebug={onDebug} />
        </OwnKeysContext>
      );
  }
}

/** @returns Unsubscribes. */
function onNetwork(listener: () => void): () => void {
  const stop = new AbortController();
  for (const event of ["online", "offline"]) window.addEventListener(event, listener, { signal: stop.signal });
  return () => stop.abort();
}

/** The login window after the login. */
export function LoggedIn() {
  const words = useTexts().page;
  return <Card title={words.name} text={words.loggedIn} />;
}

function actionText({ kind, text }: LinkAction, words: Texts["page"]): string {
  if (kind === "command") return text;
  return kind === "env" ? words.withVariable(text) : words.inDirectory(text);
}

type CardProps = {
  readonly scheme?: Scheme | "system";
  readonly title: string;
  readonly text: string;
  readonly children?: ReactNode;
};

function Card({ scheme, title, text, children }: CardProps) {
  return (
    <main className="sbx-ground sbx-page sbx-center" data-scheme={scheme}>
      <div className="sbx-card">
        <h1>{title}</h1>
        <p>{text}</p>
        {children}
      </div>
    </main>
  );
}
