// The exploration of a keyboard that is handed over: in a file of its own, which another process runs meanwhile.

import { test } from "vitest";
import { EXPLORED, exploreAll, TIMEOUT } from "./explore-all.ts";

const exclusive = EXPLORED.filter(({ plan }) => plan.mode === "exclusive");

test.each(exclusive)("$name: whatever breaks wherever, all promises hold", { timeout: TIMEOUT }, exploreAll);
