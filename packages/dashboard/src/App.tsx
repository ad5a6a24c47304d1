// The whole page, drawn from its state. It decides nothing.

import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { chosenProps } from "./chosen-props.ts";
import type { Page } from "./page.ts";
import type { Wish } from "./page-address.ts";
import { SettingsDialog } from "./SettingsDialog.tsx";
import { ShareDialog } from "./ShareDialog.tsx";
import { Terminal } from "./Terminal.tsx";
import type { TerminalSession } from "./terminal-session.ts";
import type { Texts } from "./texts.ts";
import { useTexts } from "./texts-context.ts";

export type AppProps = {
  readonly page: Page;
  /** Called with each session that comes onto the page, where its address asks for debugging. */
  readonly onDebug?: (session: TerminalSession) => void;
};

export function App({ page, onDebug }: AppProps) {
  const words = useTexts().page;
  const state = useSyncExternalStore(page.subscribe, page.getState);
  switch (state.phase) {
    case "asking":
      return <Card title={words.name} text={words.asking} />;
    case "anonymous":
      return (
        <Card title={words.name} text={words.anonymous}>
          <a className="sbx-button sbx-primary" href={state.loginUrl}>
            {words.logIn}
          </a>
        </Card>
      );
    case "unreachable":
      return (
        <Card title={words.unreachable} text={state.reason}>
          <button type="button" className="sbx-button sbx-primary" onClick={() => void page.start()}>
            {words.tryAgain}
          </button>
        </Card>
      );
    case "confirming":
      return (
        <Card title={words.runThis} text={words.asksToStart(state.address.sandbox)}>
          <pre>{state.address.wishes.map((wish) => wishWords(wish, words)).join("\n")}</pre>
          <button type="button" className="sbx-button sbx-primary" onClick={() => page.confirm()}>
            {words.run}
          </button>
          <p className="sbx-fine">{words.onlyIfTrusted}</p>
        </Card>
      );
    case "closed": {
      const { sandbox, session } = state.address;
      return (
        <Card title={words.closed} text={words.closedText(`${sandbox} / ${session}`)}>
          <button type="button" className="sbx-button sbx-primary" onClick={() => page.open()}>
            {words.openAgain}
          </button>
          <button type="button" className="sbx-button" onClick={() => page.newSession()}>
            {words.newSession}
          </button>
        </Card>
      );
    }
    case "ready":
      return <TerminalPage key={state.address.search} page={page} state={state} onDebug={onDebug} />;
  }
}

/** In the window of a login that is done. */
export function LoggedIn() {
  const words = useTexts().page;
  return <Card title={words.name} text={words.loggedIn} />;
}

function wishWords({ kind, text }: Wish, words: Texts["page"]): string {
  if (kind === "command") return text;
  return kind === "env" ? words.withVariable(text) : words.inDirectory(text);
}

type ReadyState = Extract<ReturnType<Page["getState"]>, { phase: "ready" }>;

function TerminalPage(props: {
  readonly page: Page;
  readonly state: ReadyState;
  readonly onDebug: AppProps["onDebug"] | undefined;
}) {
  const { page, state, onDebug } = props;
  const { address, user, rights } = state;
  const preferences = useSyncExternalStore(page.preferences.subscribe, page.preferences.get);
  const chosen = useMemo(() => chosenProps(preferences), [preferences]);
  const [isSharing, setSharing] = useState(false);
  const [isInSettings, setSettings] = useState(false);
  const settings = useTexts().settings;
  const [title, setTitle] = useState("");
  useEffect(() => {
    const place = `${address.sandbox}/${address.session}`;
    document.title = title === "" ? place : `${title} · ${place}`;
  }, [title, address]);
  return (
    <main className="sbx-page">
      <Terminal
        {...chosen}
        wsUrl={address.attachUrl}
        session={address.session}
        resumes={state.resumes}
        renderer={address.renderer}
        isAdmin={rights.isAdmin}
        {...(rights.mayRenew ? { freshCredential: (role) => page.freshCredential(address, role) } : {})}
        onLogin={() => page.login()}
        onClose={() => page.close()}
        onReader={(isReader) => page.preferences.set({ isReader })}
        takesFiles={rights.mayStartAnother}
        onSettings={() => setSettings(true)}
        onTitle={setTitle}
        {...(rights.mayShare ? { onShare: () => setSharing(true) } : {})}
        {...(rights.mayStartAnother ? { onNewSession: () => page.newSession() } : {})}
        {...(address.isDebug && onDebug !== undefined ? { onReady: onDebug } : {})}
      >
        <button
          type="button"
          className="sbx-quiet sbx-open-settings"
          aria-label={settings.open}
          title={settings.openTitle}
          onClick={() => setSettings(true)}
        >
          <span>{settings.open}</span>
          <span>{settings.openSign}</span>
        </button>
        <Account user={user} onLogin={() => page.login()} onLogout={() => void page.logout()} />
      </Terminal>
      {isInSettings ? (
        <SettingsDialog
          preferences={preferences}
          onChange={(change) => page.preferences.set(change)}
          onClose={() => setSettings(false)}
        />
      ) : null}
      {isSharing ? <ShareDialog place={address} onClose={() => setSharing(false)} /> : null}
    </main>
  );
}

type AccountProps = {
  readonly user: string | undefined;
  readonly onLogin: () => void;
  readonly onLogout: () => void;
};

function Account({ user, onLogin, onLogout }: AccountProps) {
  const words = useTexts().page;
  return (
    <>
      <span className="sbx-user" title={user ?? words.notLoggedIn}>
        {user ?? words.guest}
      </span>
      <button type="button" className="sbx-quiet" onClick={user === undefined ? onLogin : onLogout}>
        {user === undefined ? words.logIn : words.logOut}
      </button>
    </>
  );
}

type CardProps = { readonly title: string; readonly text: string; readonly children?: ReactNode };

function Card({ title, text, children }: CardProps) {
  return (
    <main className="sbx-ground sbx-center">
      <div className="sbx-card">
        <h1>{title}</h1>
        <p>{text}</p>
        {children}
      </div>
    </main>
  );
}
