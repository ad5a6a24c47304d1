// The frame of every test here: one browser and one login for all files of a vitest worker, one profile and one sandbox a test, and nothing
// may go wrong on a page unseen.
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { launch, STILL } from "../../../packages/dashboard/test/browser.ts";
import { signIn } from "../../../packages/local/test/approve.ts";
import { fresh, system } from "../../e2e/support/system/system.ts";
import { Link } from "./link.ts";
import { Tab } from "./tab.ts";

const VIEWPORT = { width: 900, height: 560 };

/** A service worker stores the page in each new profile, which costs as much as a third of a page. install.test.ts has it. */
const FRESH = { ...STILL, serviceWorkers: "block" } as const;

export type Fixture = {
  /** Between the browser and the Worker. */
  readonly link: Link;
  /** A profile without cookies. */
  profile(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A tab in a profile, at an address of the system. */
  open(profile: BrowserContext, path: string): Promise<Tab>;
  /** A tab with a shell in a sandbox of its own, logged in. */
  shell(options?: ShellOptions): Promise<ShellTab>;
  /**
   * The shell that all tests of a file have in turn, on an empty screen, each in another folder. After a failure a new shell is made.
   * @param options Of its first test.
   */
  sameShell(options?: ShellOptions): Promise<ShellTab>;
  /** A profile that is logged in. */
  member(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** A profile with a login of its own: logging out there ends nobody else's. */
  freshMember(options?: BrowserContextOptions, name?: string): Promise<BrowserContext>;
  /** Another tab in the same profile, at the same address. */
  again(tab: Tab): Promise<Tab>;
};

type ShellOptions = {
  /** Default: one that nobody else has. */
  readonly sandbox?: string;
  readonly viewport?: typeof VIEWPORT;
  /** More for the page's query, beginning with `&`. */
  readonly query?: string;
  /** `webgl`: as people with a graphics card have it. Default: the DOM, which costs a machine without a graphics card less. */
  readonly renderer?: "webgl" | "dom";
  /** `page`: by the issuer's page. Default: with the login of the worker's tests. */
  readonly login?: "page";
  /** Default: `block`. */
  readonly serviceWorkers?: "allow" | "block";
};

export type ShellTab = { readonly tab: Tab; readonly directory: string };

/** Goes through the issuer's page as a person does. */
export async function logIn(tab: Tab, name: string): Promise<void> {
  await tab.page.getByRole("link", { name: "Log in" }).click();
  await tab.page.getByRole("button", { name: `Continue as ${name}` }).click();
}

/** The same without a page, which costs a second of a processor: login.test.ts shows that people get in by one. */
async function logInWithout({ request }: BrowserContext, name: string): Promise<void> {
  const begun = await request.get(`${system.origin}/login`, { maxRedirects: 0 });
  const callback = await signIn(begun.headers().location ?? "", { sub: name, org: "local" });
  expect((await request.get(callback.href)).status()).toBe(200);
}

/** The working directory of a sandbox. @throws {Error} Before something has run in it. */
export function directoryOf(sandbox: string): string {
  const found = readdirSync(system.sandboxesDir).find((name) => name.startsWith(`${sandbox}-`));
  if (found === undefined) throw new Error(`Cannot find a directory of ${sandbox} in ${system.sandboxesDir}`);
  return join(system.sandboxesDir, found);
}

/** Starts a browser that connects to port `to` where a page asks for `localhost` at port `from`. */
export type StartBrowser = (from: number, to: number) => Promise<Browser>;

const startChromium: StartBrowser = (from, to) => launch(`--host-resolver-rules=MAP localhost:${from} 127.0.0.1:${to}`);

type Started = { readonly browser: Browser; readonly link: Link; readonly state: StorageState };
type StorageState = Awaited<ReturnType<BrowserContext["storageState"]>>;

/** The browsers of this worker, whose modules stay loaded from file to file; Playwright ends them when the worker ends. */
const started = new Map<StartBrowser, Promise<Started>>();

async function startWith(start: StartBrowser): Promise<Started> {
  const port = Number(new URL(system.origin).port);
  const link = await Link.to(port);
  // The address stays the public one, which is what cookies and origins are about; only the wire is ours.
  const browser = await start(port, link.port);
  const profile = await browser.newContext();
  await logInWithout(profile, "alice");
  const state = await profile.storageState();
  await profile.close();
  return { browser, link, state };
}

/** All tests are about the same person, whose settings follow them into every browser: none finds what another has chosen. */
async function forgetSettings({ cookies }: StorageState): Promise<void> {
  const answer = await fetch(`${system.origin}/api/preferences`, {
    method: "PUT",
    headers: {
      Origin: system.origin,
      Cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; "),
      "Content-Type": "application/json",
    },
    body: JSON.stringify({ preferences: {} }),
  });
  expect(answer.status).toBe(200);
}

/** @param start Default: starts Chromium. */
export function setUpBrowser(start: StartBrowser = startChromium): Fixture {
  let shared: Started | undefined;
  let profiles: BrowserContext[] = [];
  let tabs: Tab[] = [];
  let same: (ShellTab & { folders: number }) | undefined;

  const use = (): Started => {
    if (shared === undefined) throw new Error("Cannot use the browser outside a test");
    return shared;
  };

  beforeAll(async () => {
    const starting = started.get(start) ?? startWith(start);
    started.set(start, starting);
    shared = await starting;
  });
  afterEach(async ({ task }) => {
    const problems = tabs.flatMap((tab) => tab.problems.splice(0));
    await closeAll(task.result?.state === "fail" || same?.tab.page.isClosed() === true ? undefined : same?.tab);
    use().link.mend();
    await forgetSettings(use().state);
    expect(problems).toEqual([]);
  });

  afterAll(() => closeAll(undefined));

  async function closeAll(kept: Tab | undefined): Promise<void> {
    if (kept === undefined) same = undefined;
    for (const profile of profiles) {
      if (profile === kept?.page.context()) {
        for (const page of profile.pages()) if (page !== kept.page) await page.close();
        continue;
      }
      // A page asks again and again. A route of the test that is answering just now would fail with the page gone.
      for (const page of profile.pages()) await page.unrouteAll({ behavior: "ignoreErrors" });
      await profile.unrouteAll({ behavior: "ignoreErrors" });
      await profile.close();
    }
    profiles = kept === undefined ? [] : [kept.page.context()];
    tabs = kept === undefined ? [] : [kept];
  }

  const fixture: Fixture = {
    get link() {
      return use().link;
    },
    async profile(options = {}) {
      const profile = await use().browser.newContext({ viewport: VIEWPORT, ...FRESH, ...options });
      profiles.push(profile);
      return profile;
    },
    async open(profile, path) {
      const tab = new Tab(await profile.newPage());
      tabs.push(tab);
      await tab.page.goto(new URL(path, system.origin).href);
      return tab;
    },
    async member(options = {}) {
      return fixture.profile({ storageState: use().state, ...options });
    },
    async freshMember(options = {}, name = "alice") {
      const profile = await fixture.profile(options);
      await logInWithout(profile, name);
      return profile;
    },
    async shell({
      sandbox = fresh("browser"),
      viewport = VIEWPORT,
      renderer = "dom",
      query = "",
      login,
      ...more
    } = {}) {
      const profile = await (login === "page" ? fixture.profile : fixture.member)({ viewport, ...more });
      const tab = await fixture.open(profile, `/?sandbox=${sandbox}&session=main&debug=1&renderer=${renderer}${query}`);
      if (login === "page") await logIn(tab, "alice");
      await tab.shell();
      return { tab, directory: directoryOf(sandbox) };
    },
    async sameShell(options) {
      same ??= { ...(await fixture.shell(options)), folders: 0 };
      same.folders += 1;
      const { tab, folders } = same;
      const directory = join(same.directory, `test-${folders}`);
      mkdirSync(directory, { mode: 0o777 });
      // A test may have left a program that reads.
      await tab.type("");
      await tab.page.keyboard.press("Control+C");
      // The old prompt looks the same: a file that is dropped there goes to the old folder.
      await tab.run(`stty sane; cd ~/test-${folders} && clear && echo in test-${folders}`);
      await tab.shows(`in test-${folders}`);
      await tab.clear();
      return { tab, directory };
    },
    async again(tab) {
      const other = await fixture.open(tab.page.context(), tab.page.url());
      await other.state("attached");
      return other;
    },
  };
  return fixture;
}
