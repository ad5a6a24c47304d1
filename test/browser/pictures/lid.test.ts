// The moving picture in the README, taken where SBX_SCREENSHOTS=1 asks for it: the command line in a terminal, on a laptop whose lid is
// closed in the middle of a command. The command line stands still and its connections break; what the command prints meanwhile follows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { anyFreePort } from "../../../packages/local/src/base/ports.ts";
import { CLI, cliEnv } from "../../e2e/support/clients/cli.ts";
import { Tmux } from "../../e2e/support/clients/tmux.ts";
import { type System, startSystem } from "../../e2e/support/system/own-system.ts";
import { Link } from "../support/link.ts";
import { film, type Screen } from "./film.ts";

const SIZE = { cols: 86, rows: 17 };
const MAX_BYTES = 300 * 1024;
const CLOSED_MS = 5_000;
const PICTURE_MS = 60;
const COUNT = 60;
/** What the command prints of one number. */
const lineOf = (n: number) => new RegExp(`^10000${n}: `);

const dir = mkdtempSync(join(tmpdir(), "sbx-lid-"));
let system: System | undefined;
let link: Link | undefined;
let terminal: Tmux | undefined;

afterAll(async () => {
  terminal?.close();
  await system?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** Takes a picture of the terminal whenever it shows something else. */
class Camera {
  readonly screens: Screen[] = [];
  isClosed = false;
  readonly #terminal: Tmux;
  #isOn = true;
  readonly #done: Promise<void>;

  constructor(terminal: Tmux) {
    this.#terminal = terminal;
    this.#done = this.#film();
  }

  async stop(): Promise<readonly Screen[]> {
    this.#isOn = false;
    await this.#done;
    this.#look();
    return this.screens;
  }

  async #film(): Promise<void> {
    while (this.#isOn) {
      this.#look();
      await pause(PICTURE_MS);
    }
  }

  #look(): void {
    const lines = this.#terminal.screen(true);
    const last = this.screens.at(-1);
    const isSame = last?.isClosed === this.isClosed && last.lines.join("\n") === lines.join("\n");
    if (!isSame) this.screens.push({ atMs: performance.now(), lines, isClosed: this.isClosed });
  }
}

test("a moving picture of a lid that closes and opens", async () => {
  const port = await anyFreePort();
  link = await Link.to(port);
  const address = `localhost:${link.port}`;
  system = await startSystem({ dir, ports: { worker: port }, workerVars: { ALLOWED_HOSTS: address } });
  const SBX_TOKEN = await system.mintToken({ sub: "alice" });
  terminal = new Tmux(SIZE.cols, SIZE.rows, { ...cliEnv(undefined), SBX_TOKEN });
  await terminal.endsWith(/^local\$$/);
  // The shell takes no notice of a program that stands still, and knows the program by its name.
  const setUp = [
    "set +m",
    `sbx-stdio() { ${process.execPath} ${CLI} http://${address} "$@"; }`,
    String.raw`PS1='\[\e[1;32m\]laptop\[\e[0m\]$ '`,
  ];
  terminal.type(`${setUp.join("; ")}; clear`, "Enter");
  await terminal.endsWith(/^laptop\$$/);

  const camera = new Camera(terminal);
  terminal.type(`sbx-stdio -t -- sh -c 'for n in $(seq ${COUNT}); do factor 10000$n; sleep .2; done; exit 7'`, "Enter");
  await terminal.shows(lineOf(12));
  const pid = commandLineOf(terminal);
  camera.isClosed = true;
  process.kill(pid, "SIGSTOP");
  link.cut();
  await pause(CLOSED_MS);
  link.mend();
  process.kill(pid, "SIGCONT");
  camera.isClosed = false;
  await terminal.shows(lineOf(COUNT));
  await terminal.endsWith(/^laptop\$$/);
  terminal.type("echo $?", "Enter");
  await terminal.shows(/^7$/);
  const screens = await camera.stop();

  const title =
    "A command line prints prime factors. The lid closes and opens; no line is missing, and the exit code is 7.";
  const svg = film(screens, SIZE, title, `asleep and offline, for ${CLOSED_MS / 1000} s`);
  expect(Buffer.byteLength(svg)).toBeLessThan(MAX_BYTES);
  expect(screens.length).toBeGreaterThan(20);
  writeFileSync(join(ROOT, "docs/lid.svg"), svg);
});

/** The process of the command line: the shell's child. */
function commandLineOf(shown: Tmux): number {
  const shell = Number(shown.value("#{pane_pid}"));
  const [child] = readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ");
  return Number(child);
}
