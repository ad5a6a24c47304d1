// A preview, opened by a link in the terminal.
import { test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";
import { followVite } from "./support/vite-preview.ts";

const browser = setUpBrowser();

test("vite's link opens its page in an origin of its own, which has its socket, and sees nothing of ours", () =>
  followVite(browser));
