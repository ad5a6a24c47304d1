// The bridge's entry: settings from the environment, the server, and what a signal does. Nothing here to test.

import { startBridge } from "./src/server.ts";
import { readSettings } from "./src/settings.ts";

const settings = readSettings(process.env);
if (!settings.ok) {
  console.error(`stdio-ws: ${settings.problem}`);
  process.exit(2);
}
const bridge = startBridge(settings.settings);
// One line of JSON, so that whoever started it on port 0 can read where it listens.
console.log(JSON.stringify({ listening: bridge.url, pid: process.pid }));

let isStopping = false;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    if (isStopping) process.exit(1);
    isStopping = true;
    void bridge.stop().then(() => process.exit(0));
  });
}
