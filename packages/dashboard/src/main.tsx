// The page's entry: puts the App on it. Under `?debug=1` what is behind the terminal can be reached from the console.

import "./page.css";
import { createRoot } from "react-dom/client";
import { App } from "./App.tsx";
import { Page } from "./page.ts";

const root = document.getElementById("root");
if (root === null) throw new Error("Cannot draw the page: index.html has no #root");

const page = new Page();
createRoot(root).render(
  <App
    page={page}
    onDebug={({ screen, connection }) => {
      Object.assign(window, { sbx: { terminal: screen.terminal, client: connection } });
    }}
  />,
);
window.addEventListener("hashchange", () => page.fragmentChanged());
void page.start();
