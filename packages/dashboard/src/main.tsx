// The page's entry. With `?debug=1` the console can reach the objects behind the terminal.

import "./page.css";
import { createRoot } from "react-dom/client";
import { App, LoggedIn } from "./app/App.tsx";
import { installShell } from "./app/install-shell.ts";
import { LOGIN_DONE } from "./app/login.ts";
import { Page } from "./app/page.ts";
import { refuseDrops } from "./transfer/dropped-files.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("Cannot draw the page: index.html has no #root");

const isLoginWindow = location.search === LOGIN_DONE;
// If the browser does not let the login window close itself, it shows a text.
if (isLoginWindow) window.close();

const page = new Page();
createRoot(root).render(
  isLoginWindow ? (
    <LoggedIn />
  ) : (
    <App
      page={page}
      onDebug={({ screen, connection }) => {
        Object.assign(window, { sbx: { terminal: screen.terminal, client: connection } });
      }}
    />
  ),
);
if (!isLoginWindow) {
  window.addEventListener("hashchange", () => page.fragmentChanged());
  window.addEventListener("storage", ({ key, newValue }) => page.preferences.changedElsewhere(key, newValue));
  void page.start();
  installShell();
  refuseDrops(window);
}
