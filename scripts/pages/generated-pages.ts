// The pages that a program writes, from what the code itself reads. `npm run docs` writes them; a test holds each file to its text.
import { securityPage } from "./attacks-block.ts";
import { cliPage } from "./cli-page.ts";
import { httpPage } from "./http-page.ts";
import { proofPage } from "./proof-page.ts";
import { settingsPage } from "./settings-page.ts";

/** The text of each, by its path in the tree. */
export const GENERATED_PAGES: Readonly<Record<string, () => string>> = {
  "docs/cli-reference.md": cliPage,
  "docs/http.md": httpPage,
  "docs/proof/README.md": proofPage,
  "docs/settings.md": settingsPage,
};

/** With the pages by hand that have a block of this kind. */
export const GENERATED: Readonly<Record<string, () => string>> = { ...GENERATED_PAGES, "SECURITY.md": securityPage };
