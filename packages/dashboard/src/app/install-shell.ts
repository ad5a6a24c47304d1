// Has the browser keep the page's own files, so that it opens without a network, says so, and can be installed.

const SCRIPT = "/service-worker.js";

/** Does nothing where the browser has no service workers, as on a page without TLS. */
export function installShell(): void {
  // Typed as if it were always there.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker;
  // Classic, since not every browser has those that are modules: it is built as one file.
  container?.register(SCRIPT, { updateViaCache: "none" }).catch((error: unknown) => {
    // Without it the page is as it always was: a person need not be told.
    console.info("The page is not kept for times without a network:", error);
  });
}
