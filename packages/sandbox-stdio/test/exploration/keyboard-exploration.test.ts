// Explores a keyboard that is handed over. A separate file, so that another process runs it meanwhile.

import { test } from "vitest";
import { EXPLORED, exploreAll, TIMEOUT } from "./explore-all.ts";

const exclusive = EXPLORED.filter(({ plan }) => plan.mode === "exclusive");

test.each(exclusive)("$name: whatever breaks wherever, all promises hold", { timeout: TIMEOUT }, exploreAll);
