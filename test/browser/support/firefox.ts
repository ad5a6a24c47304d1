// Starts Debian's Firefox, driven by Playwright over WebDriver BiDi: no download of a patched one is needed.
import { fileURLToPath } from "node:url";
import { type Browser, firefox } from "playwright-core";
import { findFirefox } from "../../../packages/local/src/base/programs.ts";

/** Between Playwright and Firefox: see there. */
const PROXY = fileURLToPath(new URL("firefox.mjs", import.meta.url));

/**
 * @param from A port of this machine, which pages name. @param to The port that Firefox connects to in its place.
 * @throws {Error} Naming what is missing: these tests are never skipped.
 */
export function launchFirefox(from: number, to: number): Promise<Browser> {
  const path = findFirefox();
  if (path === undefined) {
    throw new Error('Cannot find Firefox: not in PATH; set FIREFOX_PATH, or install Debian\'s package "firefox-esr"');
  }
  return firefox.launch({
    // This prefix is what has Playwright speak WebDriver BiDi.
    channel: "moz-firefox",
    executablePath: PROXY,
    env: { ...process.env, FIREFOX_PATH: path },
    // Nothing in it calls home.
    firefoxUserPrefs: {
      "app.normandy.enabled": false,
      "app.update.enabled": false,
      "browser.safebrowsing.blockedURIs.enabled": false,
      "datareporting.policy.dataSubmissionEnabled": false,
      "extensions.update.enabled": false,
      // As STILL does it for Chromium: this Firefox can't be asked by the page.
      "ui.prefersReducedMotion": 1,
      "network.socket.forcePort": `${from}=${to}`,
      "network.captive-portal-service.enabled": false,
      "network.connectivity-service.enabled": false,
      "services.settings.server": "data:,",
    },
  });
}
