// The files with which alacritty (Apache-2.0, from Debian's package of its sources) and xterm.js (MIT, from the last npm package with them)
// test themselves, played into recorded sessions: each kilobyte's screen is that of xterm.js, and the stock player ends in the same cells.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../../../packages/local/src/base/paths.ts";
import { connect } from "../../e2e/support/clients/client.ts";
import { Reference } from "../../e2e/support/clients/reference-screen.ts";
import { run } from "../../e2e/support/system/installed.ts";
import { api, fresh, person } from "../../e2e/support/system/system.ts";
import { until } from "../../e2e/support/system/wait.ts";
import { setUpBrowser } from "../support/fixture.ts";
import { playerCells, playWith } from "../support/player.ts";

const ALACRITTY = "librust-alacritty-terminal-dev";
const XTERM = "xterm@1.0.0";
const browser = setUpBrowser();

/** Downloads and unpacks a package once. @returns Its folder. */
async function unpacked(name: string, words: string): Promise<string> {
  const dir = join(ROOT, ".local/recordings", name);
  if (existsSync(dir)) return dir;
  mkdirSync(dir, { recursive: true });
  const { code, stdout, stderr } = await run("sh", ["-c", words], dir);
  expect(code, stdout + stderr).toBe(0);
  return dir;
}

const words = `apt-get -o APT::Sandbox::User=root download ${ALACRITTY} && dpkg-deb -x *.deb .`;
const alacritty = await unpacked(ALACRITTY, words);
const found = await run("find", [alacritty, "-name", "alacritty.recording", "-path", "*/tests/ref/ll/*"], ROOT);
const folder = dirname(dirname(found.stdout.split("\n")[0] ?? ""));
const NAMES = [
  ...["alt_reset", "delete_lines", "fish_cc", "grid_reset", "indexed_256_colors", "issue_855", "row_reset"],
  ...["scroll_up_reset", "tmux_git_log", "tmux_htop", "vim_large_window_scroll", "vttest_origin_mode_1"],
  ...["vttest_scroll", "zerowidth", "wrapline_alt_toggle", "zsh_tab_completion"],
];

const recordings = NAMES.map((name) => {
  const { columns: cols, screen_lines: rows } = JSON.parse(readFileSync(join(folder, name, "size.json"), "utf8"));
  return { name, path: join(folder, name, "alacritty.recording"), cols, rows };
});

/** All of xterm.js' files one after the other, each on a new screen. */
async function ofXterm() {
  const dir = await unpacked(XTERM, `npm pack ${XTERM} && tar xzf *.tgz`);
  const files = join(dir, "package/test/escape_sequence_files");
  const names = readdirSync(files).filter((file) => file.endsWith(".in"));
  const path = join(dir, "all.recording");
  writeFileSync(
    path,
    Buffer.concat(names.sort().flatMap((file) => [Buffer.from("\x1bc"), readFileSync(join(files, file))])),
  );
  return { name: `${names.length} files of xterm.js`, path, cols: 80, rows: 25 };
}

test.each([...recordings, await ofXterm()])(
  "$name: each kilobyte's screen is that of xterm.js, and the .cast ends in the same cells",
  async ({ path, cols, rows }) => {
    const bytes = readFileSync(path);
    const [alice, session] = [await person(), fresh("public")];
    // Answers to what it asks a terminal are not echoed.
    const script = `stty raw -echo; cat '${path}'; read -r x`;
    const client = await connect(alice, { session, cmd: "sh", arg: ["-c", script], tty: 1, record: 1, cols, rows });
    await until("all of it", () => client.bytes().length === bytes.length);
    expect(client.bytes().equals(bytes)).toBe(true);

    const base = `/api/sandboxes/default/sessions/${session}/recording`;
    const reference = new Reference({ cols, rows });
    let fed = 0;
    for (let at = 0; at < bytes.length + 1024; at += 1024) {
      const offset = Math.min(at, bytes.length);
      await reference.feed(bytes.subarray(fed, offset));
      fed = offset;
      const response = await api(alice, `${base}/screen?offset=${offset}&format=json`);
      expect(response.status).toBe(200);
      expect(await response.json(), `at ${offset}`).toMatchObject({ ...reference.screen(), offset });
    }

    const cast = await (await api(alice, base)).text();
    const plain = [{ version: 3, term: { cols, rows } }, [0, "o", bytes.toString()]];
    const profile = await browser.profile();
    const page = await playWith(browser, profile, cast);
    const atOnce = await playWith(browser, profile, plain.map((line) => `${JSON.stringify(line)}\n`).join(""));
    // The player draws later than it says that it has ended.
    const agree = async () => {
      const [cells, wanted] = await Promise.all([page, atOnce].map(playerCells));
      return cells !== undefined && cells.length > 0 && isDeepStrictEqual(cells, wanted);
    };
    await expect.poll(agree).toBe(true);
    await Promise.all([page.close(), atOnce.close()]);
  },
);
