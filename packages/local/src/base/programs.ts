// Finding the programs that the tests drive: browsers, and Python with pexpect. Installs nothing; prerequisites.ts does.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there, or not to be run: no candidate either way.
    return false;
  }
}

/** The absolute path of a program in PATH. */
export function findProgram(name: string): string | undefined {
  const candidates = (process.env.PATH ?? "").split(delimiter).map((dir) => join(dir, name));
  return candidates.find(isExecutable);
}

/** Path of a Chromium: CHROMIUM_PATH, else the system's, else Playwright's own download. */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH } = process.env;
  if (CHROMIUM_PATH !== undefined && CHROMIUM_PATH !== "") return CHROMIUM_PATH;
  for (const name of ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]) {
    const path = findProgram(name);
    if (path !== undefined) return path;
  }
  const fixed = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", chromium.executablePath()];
  return fixed.find(isExecutable);
}

/** The same engine without a window of its own, if it is there: a page costs a third of the work, and a start a fifth. */
export function findHeadlessChromium(): string | undefined {
  const { CHROMIUM_PATH = "" } = process.env;
  return CHROMIUM_PATH === "" ? (findProgram("chromium-headless-shell") ?? findChromium()) : CHROMIUM_PATH;
}

/** Path of a Firefox: FIREFOX_PATH, else the system's. */
export function findFirefox(): string | undefined {
  const { FIREFOX_PATH } = process.env;
  if (FIREFOX_PATH !== undefined && FIREFOX_PATH !== "") return FIREFOX_PATH;
  return findProgram("firefox-esr") ?? findProgram("firefox");
}

/** The Python that has pexpect: PATH's, or Debian's, which python3-pexpect is for. */
export function findPexpectPython(): string | undefined {
  return ["python3", "/usr/bin/python3"].find((python) => spawnSync(python, ["-c", "import pexpect"]).status === 0);
}
