// Buttons for the list of sessions and the settings, the person's name, and login or logout.

import { useTexts } from "../texts/texts-context.ts";
import { keysOfCommand } from "../workspace/layout-keys.ts";

export type PageToolsProps = {
  /** The logged-in person; undefined for a guest. */
  readonly user: string | undefined;
  /** Absent for a guest of one session. */
  readonly onList: (() => void) | undefined;
  readonly onSettings: () => void;
  readonly onLogin: () => void;
  readonly onLogout: () => void;
};

export function PageTools({ user, onList, onSettings, onLogin, onLogout }: PageToolsProps) {
  const { desk, page, settings } = useTexts();
  const listTitle = desk.sessionsTitle(keysOfCommand({ do: "palette" }) ?? "");
  return (
    <>
      {onList === undefined ? null : (
        <Tool label={desk.sessions} sign={desk.sessionsSign} title={listTitle} onClick={onList} />
      )}
      <Tool label={settings.open} sign={settings.openSign} title={settings.openTitle} onClick={onSettings} />
      <span className="sbx-user" title={user ?? page.notLoggedIn}>
        {user ?? page.guest}
      </span>
      <button type="button" className="sbx-quiet sbx-out" onClick={user === undefined ? onLogin : onLogout}>
        {user === undefined ? page.logIn : page.logOut}
      </button>
    </>
  );
}

type ToolProps = {
  readonly label: string;
  /** In place of the label in a small window. */
  readonly sign: string;
  readonly title: string;
  readonly onClick: () => void;
};

function Tool({ label, sign, title, onClick }: ToolProps) {
  return (
    <button type="button" className="sbx-quiet sbx-or-sign" aria-label={label} title={title} onClick={onClick}>
      <span>{label}</span>
      <span>{sign}</span>
    </button>
  );
}
