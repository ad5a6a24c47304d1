// Registers the service worker, so that the page opens without a network and can be installed.

import { keepPush } from "./push.ts";

const SCRIPT = "/service-worker.js";

/** Does nothing without service workers, as on a page without TLS. */
export function installShell(): void {
  // The types say that it is always there.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  // Not a module, which some browsers don't support: it is built as one file.
  const registered = container?.register(SCRIPT, { updateViaCache: "none" }).then(keepPush);
  registered?.catch((error: unknown) => {
    // The page works without it.
    console.info("The page is not available offline:", error);
  });
}
