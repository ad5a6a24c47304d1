// The whole page, drawn from its state. It decides nothing.

import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import type { Page } from "./page.ts";
import { ShareDialog } from "./ShareDialog.tsx";
import { Terminal } from "./Terminal.tsx";
import type { TerminalSession } from "./terminal-session.ts";

export type AppProps = {
  readonly page: Page;
  /** Called with each session that comes onto the page, where its address asks for debugging. */
  readonly onDebug?: (session: TerminalSession) => void;
};

export function App({ page, onDebug }: AppProps) {
  const state = useSyncExternalStore(page.subscribe, page.getState);
  switch (state.phase) {
    case "asking":
      return <Card title="sbx-stdio" text="One moment…" />;
    case "anonymous":
      return (
        <Card title="sbx-stdio" text="A terminal in a sandbox. Log in to open it.">
          <a className="sbx-button sbx-primary" href={state.loginUrl}>
            Log in
          </a>
        </Card>
      );
    case "unreachable":
      return (
        <Card title="The server does not answer" text={state.reason}>
          <button type="button" className="sbx-button sbx-primary" onClick={() => void page.start()}>
            Try again
          </button>
        </Card>
      );
    case "confirming":
      return (
        <Card title="Run this?" text={`The link asks to start, in sandbox ${state.address.sandbox}:`}>
          <pre>{state.address.wishes.join("\n")}</pre>
          <button type="button" className="sbx-button sbx-primary" onClick={() => page.confirm()}>
            Run
          </button>
          <p className="sbx-fine">Only if you trust where the link came from.</p>
        </Card>
      );
    case "ready":
      return <TerminalPage key={state.address.search} page={page} state={state} onDebug={onDebug} />;
  }
}

type ReadyState = Extract<ReturnType<Page["getState"]>, { phase: "ready" }>;

function TerminalPage(props: {
  readonly page: Page;
  readonly state: ReadyState;
  readonly onDebug: AppProps["onDebug"] | undefined;
}) {
  const { page, state, onDebug } = props;
  const { address, user, rights } = state;
  const [isSharing, setSharing] = useState(false);
  const [title, setTitle] = useState("");
  useEffect(() => {
    const place = `${address.sandbox}/${address.session}`;
    document.title = title === "" ? place : `${title} · ${place}`;
  }, [title, address]);
  return (
    <>
      <Terminal
        wsUrl={address.attachUrl}
        session={address.session}
        resumes={state.resumes}
        renderer={address.renderer}
        isAdmin={rights.isAdmin}
        {...(rights.mayRenew ? { freshCredential: (role) => page.freshCredential(address, role) } : {})}
        onLogin={() => page.login()}
        onTitle={setTitle}
        {...(rights.mayShare ? { onShare: () => setSharing(true) } : {})}
        {...(rights.mayStartAnother ? { onNewSession: () => page.newSession() } : {})}
        {...(address.isDebug && onDebug !== undefined ? { onReady: onDebug } : {})}
      >
        <Account user={user} onLogin={() => page.login()} onLogout={() => void page.logout()} />
      </Terminal>
      {isSharing ? <ShareDialog place={address} onClose={() => setSharing(false)} /> : null}
    </>
  );
}

type AccountProps = {
  readonly user: string | undefined;
  readonly onLogin: () => void;
  readonly onLogout: () => void;
};

function Account({ user, onLogin, onLogout }: AccountProps) {
  return (
    <>
      <span className="sbx-user" title={user ?? "Not logged in"}>
        {user ?? "Guest"}
      </span>
      <button type="button" className="sbx-quiet" onClick={user === undefined ? onLogin : onLogout}>
        {user === undefined ? "Log in" : "Log out"}
      </button>
    </>
  );
}

type CardProps = { readonly title: string; readonly text: string; readonly children?: ReactNode };

function Card({ title, text, children }: CardProps) {
  return (
    <main className="sbx-center">
      <div className="sbx-card">
        <h1>{title}</h1>
        <p>{text}</p>
        {children}
      </div>
    </main>
  );
}
