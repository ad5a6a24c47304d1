// The bridge's entry: settings from the environment, the server, and signals.

import { constants } from "node:os";
import { setLogLevel } from "./src/base/log.ts";
import { hideMemory, receiveSecret } from "./src/base/secret.ts";
import { type BridgeSettings, readSettings } from "./src/base/settings.ts";
import { HELPER_FLAG, serveFiles } from "./src/files/helper.ts";
import { PACK_FLAG, pack } from "./src/files/pack.ts";
import { UNPACK_FLAG, unpack } from "./src/files/unpack.ts";
import { shortenSlices } from "./src/process/slice.ts";
import { HandOverError } from "./src/server/homes.ts";
import { type Bridge, startBridge } from "./src/server/server.ts";
import { removeScripts } from "./src/shell/integration.ts";

const [flag, ...words] = process.argv.slice(2);
if (flag === HELPER_FLAG || flag === PACK_FLAG || flag === UNPACK_FLAG) {
  const [folder = "", excludes = ""] = words;
  if (flag === HELPER_FLAG) serveFiles();
  else if (flag === PACK_FLAG) pack(folder, excludes);
  else console.log(JSON.stringify(unpack(folder)));
  process.exit(0);
}
const secret = receiveSecret(process.env);
const settings = secret.ok ? readSettings(process.env, secret.token) : secret;
if (!settings.ok) {
  console.error(`stdio-ws: ${settings.problem}`);
  process.exit(2);
}
hideMemory();
shortenSlices();
setLogLevel(settings.settings.logLevel);
const bridge = start(settings.settings);

function start(from: BridgeSettings): Bridge {
  try {
    return startBridge(from);
  } catch (error) {
    if (!(error instanceof HandOverError)) throw error;
    console.error(`stdio-ws: ${error.message}`);
    process.exit(2);
  }
}

process.on("exit", removeScripts);
let isDraining = false;
/** Signals to stop so far. */
let stops = 0;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  process.on(signal, () => {
    // Never 0: the sandbox's image takes that for a command that has done its work, and keeps a container that can't be reached.
    const code = 128 + constants.signals[signal];
    const { stopSeconds } = settings.settings;
    stops += 1;
    // Only a SIGTERM comes from a platform that gives time. A second signal cuts that time short.
    const drained = stops === 1 && signal === "SIGTERM" && stopSeconds > 0 ? bridge.drain(stopSeconds) : undefined;
    if (stops > 2 || (stops === 2 && !isDraining)) process.exit(code);
    isDraining = drained !== undefined;
    void Promise.resolve(drained)
      .then(() => bridge.stop())
      .finally(() => process.exit(code));
  });
}

// One line of JSON: a caller that chose port 0 learns where the bridge listens, and that signals are handled from here on.
console.log(JSON.stringify({ listening: bridge.url, pid: process.pid }));
