// Somebody else's page with the Terminal component on it, as the seed of the project used it: address, token, onExit.

import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { ENGLISH, type OwnTexts, Terminal, type TerminalProps } from "../src/react.ts";

/** Every text between marks: one that does not come from the texts shows. */
function marked(value: unknown): unknown {
  if (typeof value === "string") return `‹${value}›`;
  if (typeof value === "function") return (...args: unknown[]) => marked(Reflect.apply(value, undefined, args));
  if (Array.isArray(value)) return value.map(marked);
  return Object.fromEntries(Object.entries(value as object).map(([name, text]) => [name, marked(text)]));
}

/** What the page's query asks of the component. */
function propsOf(query: URLSearchParams): Partial<TerminalProps> {
  const [scheme, background, size, bars] = ["scheme", "background", "size", "bars"].map((name) => query.get(name));
  return {
    ...(query.has("marked") ? { texts: marked(ENGLISH) as OwnTexts } : {}),
    ...(query.has("connected") ? { texts: { status: { connected: query.get("connected") ?? "" } } } : {}),
    ...(scheme === "light" || scheme === "system" ? { scheme } : {}),
    ...(background ? { theme: { background } } : {}),
    ...(size ? { font: { size: Number(size) } } : {}),
    ...(bars === "0" ? { bars: false } : bars === "status" ? { bars: { people: false, keys: false } } : {}),
  };
}
const own = propsOf(new URLSearchParams(location.search));

function Host() {
  const [isShown, setShown] = useState(true);
  const [token, setToken] = useState("first.token-1");
  const [exit, setExit] = useState("");
  return (
    <div style={{ height: "400px" }}>
      <output>{exit}</output>
      <button type="button" onClick={() => setShown(false)}>
        Close
      </button>
      <button type="button" onClick={() => setToken("second.token-2")}>
        Renew
      </button>
      {isShown ? (
        <Terminal
          wsUrl={`${location.origin}/attach?sandbox=dev&session=main`}
          token={token}
          onExit={(code) => setExit(`exit ${code}`)}
          renderer="dom"
          {...own}
        />
      ) : null}
    </div>
  );
}

const root = document.getElementById("root");
if (root !== null) {
  // Strict, so that what is mounted is taken down and mounted again at once.
  createRoot(root).render(
    <StrictMode>
      <Host />
    </StrictMode>,
  );
}
