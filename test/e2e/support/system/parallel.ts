// Files of tests that run at once, each over a system of its own. They wait more than they work, so more than one fits a core.
import { availableParallelism } from "node:os";

const cores = availableParallelism();

export const E2E_WORKERS = 2 * cores;
/** A browser and its page work more. */
export const BROWSER_WORKERS = Math.ceil(1.5 * cores);
