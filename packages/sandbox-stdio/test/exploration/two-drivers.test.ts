// Explores two drivers at one session. A separate file, so that another process runs it meanwhile.

import { test } from "vitest";
import { EXPLORED, exploreAll, TIMEOUT } from "./explore-all.ts";

const together = EXPLORED.filter(({ plan }) => plan.parties.length > 1 && plan.mode === "collaborative");

test.each(together)("$name: whatever breaks wherever, all promises hold", { timeout: TIMEOUT }, exploreAll);
