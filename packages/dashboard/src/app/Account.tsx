// The logged-in person's name, and the way out again.

import { useTexts } from "../texts/texts-context.ts";

type AccountProps = {
  readonly user: string | undefined;
  readonly onLogin: () => void;
  readonly onLogout: () => void;
};

export function Account({ user, onLogin, onLogout }: AccountProps) {
  const words = useTexts().page;
  return (
    <>
      <span className="sbx-user" title={user ?? words.notLoggedIn}>
        {user ?? words.guest}
      </span>
      <button type="button" className="sbx-quiet sbx-out" onClick={user === undefined ? onLogin : onLogout}>
        {user === undefined ? words.logIn : words.logOut}
      </button>
    </>
  );
}
