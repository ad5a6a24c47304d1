// Somebody else's page with the Terminal component on it, as the seed of the project used it: address, token, onExit.

import { StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { Terminal } from "../src/react.ts";

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
