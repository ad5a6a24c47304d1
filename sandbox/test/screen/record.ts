// Makes the recordings again: `bun sandbox/test/screen/record.ts [NAME...]`, with vim, less, top, htop and tmux installed. Each
// really runs a program on a terminal of the bridge and keeps its output, with where the size changed. The tests need
// only that they are what such programs write, so a new one need not be the old one's equal.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENV, start } from "../support/process-harness.ts";

const MAX_BYTES = 200_000;
/** A program is done with what it was told once it has been silent for this long. */
const QUIET_MS = 250;

type Step = string | { readonly cols: number; readonly rows: number } | { readonly waitMs: number };
type Scenario = {
  readonly cols: number;
  readonly rows: number;
  readonly command: readonly string[];
  readonly steps: readonly Step[];
};

const ESC = "\x1b";
const BUILD_LOG = `for i in $(seq 1 900); do
  printf '\\033[32m[%3d%%]\\033[0m Building \\033[1mCXX\\033[0m object src/part%d/CMakeFiles/unit.dir/module_%d.cpp.o\\n' $((i / 9)) $((i % 13)) $i
  [ $((i % 40)) -eq 0 ] && printf '\\033[1;35mwarning:\\033[0m \\033[4munused variable\\033[24m \\033[38;5;208mfoo_%d\\033[39m in a line that is long enough to be wrapped at the right edge of the screen, twice if it is narrow \\033[48;2;30;60;90mhere\\033[0m\\n' $i
  [ $((i % 97)) -eq 0 ] && printf '\\033]0;build %d\\007' $i
done; printf '\\033[7m done \\033[0m\\n'; exit 3`;
const SPINNER = `printf '\\033[?25l'; for i in $(seq 1 60); do for c in '|' / - '\\\\'; do
  printf '\\r\\033[2K\\033[36m%s\\033[0m step %d \\033[3%dm%*s\\033[0m' "$c" $i $((i % 8)) $((i % 40)) '='; done
  [ $((i % 20)) -eq 0 ] && printf '\\r\\033[2K✔ part %d\\n' $i; done; printf '\\033[?25h\\n'`;
const WIDE = `for i in $(seq 1 40); do
  printf '%d 漢字かな交じり文 한국어 ｆｕｌｌ %s\\n' $i '端まで続く長い行は折り返される、二文字幅の文字が境目に来ることもある'
  printf 'e\\314\\201a\\314\\200o\\314\\210 combining  👩‍👩‍👧 🏳️‍🌈 👍🏽 ❤️ ☃ %*s|\\n' $((i % 30)) x
  printf '\\033[4%dm色付き\\033[K\\033[0m\\n' $((i % 8)); done
printf '\\033[5;10H漢\\033[5;11Hx\\033[7;1H字字字\\033[7;2H\\033[K\\033[3;79H漢漢\\033[9;4H\\033[2P\\033[9;1H\\033[@あ\\n'`;
const ALTERNATE = `printf 'before\\n\\033[33mkept\\n\\033]8;;http://localhost/a\\033\\\\link\\033]8;;\\033\\\\ after\\n'
printf '\\033[?1049h\\033[H\\033[44m\\033[2J'; for r in $(seq 1 20); do printf '\\033[%d;%dHrow %d' $r $((r * 2)) $r; done
printf '\\033[5;15r\\033[15;1H\\n\\n\\n\\033[?1000h\\033[?1006h\\033[?1h\\033=\\033[?2004h\\033(0lqqk\\033(B\\0337\\033[2;2H\\033[1;4mtitle\\033[0m\\0338x'
sleep 0.2; printf '\\033[r\\033[?1000l\\033[?1006l\\033[?1l\\033>\\033[?2004l\\033[?1049l\\033[0mback\\n'; for r in $(seq 1 30); do echo "line $r"; done; exit 0`;

// As a colour scheme for terminals does: the palette, and the shape of the cursor, before the program and after it.
const coloured = (
  program: string,
) => `printf '\\033]4;1;#ff0000;2;rgb:00/ff/00\\007\\033]11;#202020\\033\\\\\\033]12;#ffcc00\\007\\033[5 q\\033[?12h'
printf '%80s\\0337' end; ${program}; printf '\\0338\\033]104;1\\007back\\n\\033]111\\007\\033]112\\007\\033[0 q'; printf 'done\\n\\033]104\\007'`;

// Of its own processes only: what else runs is nobody's business.
const watched = (program: string) => `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done
yes >/dev/null & yes | cat >/dev/null & ${program} -p $(jobs -p | paste -sd,); kill $(jobs -p)`;

function scenarios(directory: string): Record<string, Scenario> {
  const text = "text.c";
  const configuration = join(directory, "tmux.conf");
  const bash = ["bash", "--norc", "--noprofile"];
  return {
    vim: {
      cols: 80,
      rows: 24,
      command: ["vim", "-u", "NONE", "-N", "-c", "syntax on", "-c", "set number title ruler hlsearch", text],
      steps: [
        "jjjjoa new line with text in it\rand another",
        ESC,
        "/int\r",
        "nn",
        ":split\r",
        "Gzz",
        { cols: 100, rows: 30 },
        ":vsplit\r",
        "ggdd5yyP",
        { cols: 70, rows: 20 },
        "\x06\x06\x02",
        ":%s/int/long/g\r",
        "V5j~",
        ":only\r",
        "u",
        ":qa!\r",
      ],
    },
    "vim-colours": {
      cols: 80,
      rows: 24,
      command: [
        ...bash,
        "-c",
        coloured(`vim -u NONE -N -c 'let &t_SI="\\e[6 q"' -c 'let &t_EI="\\e[2 q"' -c 'syntax on' text.c`),
      ],
      steps: ["jjoinserted", ESC, "Aat the end", ESC, "dd", ":qa!\r", { waitMs: 200 }],
    },
    "less-colours": {
      cols: 80,
      rows: 24,
      command: [...bash, "-c", coloured("less -R text.c")],
      steps: ["  ", "/return\r", "n", "b", "q", { waitMs: 200 }],
    },
    less: {
      cols: 90,
      rows: 25,
      command: ["less", "-R", "-N", text],
      steps: ["  ", "/return\r", "nnn", "bb", { cols: 60, rows: 18 }, "G", "g", "-S\r", "\x1b[C", "q"],
    },
    top: {
      cols: 100,
      rows: 30,
      command: ["bash", "-c", watched("top -d 0.3")],
      steps: [
        { waitMs: 1500 },
        "zxc",
        { waitMs: 900 },
        "1",
        { waitMs: 900 },
        { cols: 80, rows: 24 },
        { waitMs: 900 },
        "q",
      ],
    },
    htop: {
      cols: 100,
      rows: 30,
      command: ["bash", "-c", watched("htop -d 3")],
      steps: [
        { waitMs: 1500 },
        "tH",
        { waitMs: 900 },
        "\x1b[B\x1b[B ",
        "/yes",
        ESC,
        { cols: 80, rows: 24 },
        { waitMs: 900 },
        // The setup, and back.
        "S\x1b[B\x1b[B",
        { waitMs: 600 },
        ESC,
        // Which signal to send, and then none.
        "k",
        { waitMs: 600 },
        ESC,
        { cols: 120, rows: 35 },
        "M",
        { waitMs: 900 },
        "q",
      ],
    },
    tmux: {
      cols: 100,
      rows: 30,
      command: ["tmux", "-L", `recording-${process.pid}`, "-f", configuration, "new-session", bash.join(" ")],
      steps: [
        `PS1='$ '; clear\r`,
        "seq 1 50\r",
        "\x02%",
        `PS1='% '; clear; ls --color=always /usr\r`,
        '\x02"',
        `PS1='> '; for i in 1 2 3 4 5 6 7 8; do printf '\\033[4%dm%d\\033[0m ' $i $i; done\r`,
        { cols: 80, rows: 24 },
        "\x02o",
        "seq 1 200\r",
        "\x02[",
        "\x1b[5~\x1b[5~",
        "q",
        "\x02c",
        "echo second\r",
        "\x02d",
      ],
    },
    spinner: { cols: 80, rows: 24, command: ["bash", "-c", SPINNER], steps: [{ waitMs: 500 }] },
    wide: { cols: 80, rows: 24, command: [...bash, "-c", WIDE], steps: [{ waitMs: 300 }] },
    alternate: { cols: 80, rows: 24, command: ["bash", "-c", ALTERNATE], steps: [{ waitMs: 400 }] },
    build: { cols: 80, rows: 24, command: ["bash", "-c", BUILD_LOG], steps: [{ waitMs: 200 }] },
    shell: {
      cols: 60,
      rows: 15,
      command: bash,
      steps: [
        `PS1='\\[\\e[1;32m\\]person@sandbox\\[\\e[m\\]:/\\$ '\r`,
        "ls --color=always -l /usr /bin/ | head -60\r",
        "echo a line that is so long that the line editor has to wrap it, and then some\x01\x06\x06\x1bf\x0b\x19\r",
        { cols: 40, rows: 20 },
        "printf '\\tone\\ttwo\\n'; seq -s ' ' 1 120\r",
        { cols: 75, rows: 12 },
        "clear\r",
        "seq 1 40\r",
        "exit\r",
      ],
    },
  };
}

const wanted = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "sbx-recording-"));
const source = Array.from({ length: 160 }, (_, n) =>
  n % 9 === 0
    ? `/* part ${n} */`
    : n % 5 === 0
      ? `int f${n}(int a) { return a * ${n}; }`
      : `\tint value_${n} = "text";`,
);
writeFileSync(join(directory, "text.c"), `${source.join("\n")}\n`);
writeFileSync(
  join(directory, "tmux.conf"),
  "set -g status-right 'right'\nset -g default-command 'bash --norc --noprofile'\n",
);
for (const [name, scenario] of Object.entries(scenarios(directory))) {
  if (wanted.length === 0 || wanted.includes(name)) await record(name, scenario);
}
rmSync(directory, { recursive: true });

async function record(name: string, { cols, rows, command, steps }: Scenario): Promise<void> {
  const env = { ...ENV, COLORTERM: "truecolor", HOME: directory, SHELL: "/bin/bash", PS1: "$ " };
  const { child, sink, exited, type } = start(command, { tty: true, cols, rows, env, cwd: directory });
  const marks: { offset: number; cols: number; rows: number }[] = [];
  let lastMs = performance.now();
  sink.onCommit = () => {
    lastMs = performance.now();
  };
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  const quiet = async (): Promise<void> => {
    while (!isOver && performance.now() - lastMs < QUIET_MS) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  for (const step of steps) {
    await quiet();
    if (isOver) break;
    if (typeof step === "string") await type(step);
    else if ("waitMs" in step) await new Promise((resolve) => setTimeout(resolve, step.waitMs));
    else {
      marks.push({ offset: sink.totalBytes, cols: step.cols, rows: step.rows });
      child.resize(step.cols, step.rows);
    }
    lastMs = performance.now();
  }
  await quiet();
  child.signalAll("SIGHUP");
  await exited;
  const bytes = Buffer.concat(sink.chunks[1]).subarray(0, MAX_BYTES);
  writeFileSync(join(import.meta.dirname, "recordings", `${name}.bin`), bytes);
  writeFileSync(
    join(import.meta.dirname, "recordings", `${name}.json`),
    `${JSON.stringify({ cols, rows, marks, command: command.map((word) => word.replaceAll(directory, "")) }, undefined, 2)}\n`,
  );
  console.log(`${name}: ${bytes.length} bytes, ${marks.length} changes of size`);
}
