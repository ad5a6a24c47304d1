// Tab in bash, zsh and fish themselves, at a terminal: verbs, options, their values, and the names that the server knows.
import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLI, cliEnv, runCli } from "../support/clients/cli.ts";
import { Tmux } from "../support/clients/tmux.ts";
import { type Person, person, system } from "../support/system/system.ts";

const scratch = mkdtempSync(join(system.dir, "completion-"));
const bin = join(scratch, "bin");

let who: Person;
beforeAll(async () => {
  who = await person();
  mkdirSync(bin);
  symlinkSync(join(dirname(dirname(CLI)), "bin", "sbx-stdio.js"), join(bin, "sbx-stdio"));
  for (const session of ["webserver", "worker"]) {
    await runCli(who, ["--detach", "--sandbox", "special", "--session", session, "--", "sleep", "600"], "", "run");
  }
});

const START = {
  bash: "PS1='bash% '; source <(sbx-stdio completion bash)",
  zsh: "PS1='zsh%% ' exec zsh -f -i",
  fish: "exec fish --no-config --init-command 'function fish_prompt; echo \"fish% \"; end; set -g fish_autosuggestion_enabled 0'",
} as const;
const LOAD = {
  bash: "true",
  zsh: "autoload -Uz compinit; compinit -D -u; source <(sbx-stdio completion zsh)",
  fish: "sbx-stdio completion fish | source",
} as const;

describe.each(["bash", "zsh", "fish"] as const)("in %s", (shell) => {
  let terminal: Tmux;
  /** The screen's lines have no spaces at their ends. */
  const line = (text: string) => new RegExp(`^${`${shell}% ${text}`.trim()}$`);

  beforeAll(async () => {
    const env = cliEnv(who);
    const own = { SBX_URL: system.origin, HOME: scratch, XDG_CONFIG_HOME: join(scratch, ".config") };
    const path = `${bin}:${dirname(process.execPath)}:${env.PATH}`;
    terminal = new Tmux(110, 30, { ...env, ...own, PATH: path });
    await terminal.endsWith(/^local\$$/);
    terminal.type("sbx-stdio context set special --sandbox special && clear", "Enter");
    await terminal.endsWith(/^local\$$/);
    terminal.type(START[shell], "Enter");
    await terminal.endsWith(line(""));
    terminal.type(`${LOAD[shell]}; clear`, "Enter");
    await terminal.endsWith(line(""));
  });
  afterAll(() => terminal.close());

  test.each([
    ["a verb", "sbx-stdio docto", "sbx-stdio doctor"],
    ["an option's value", "sbx-stdio attach --role v", "sbx-stdio attach --role viewer"],
    ["a session that runs", "sbx-stdio kill webs", "sbx-stdio kill webserver"],
    ["a sandbox", "sbx-stdio ls --sandbox spec", "sbx-stdio ls --sandbox special"],
  ])("Tab completes %s", async (_what, typed, completed) => {
    terminal.type(typed, "Tab");
    await terminal.endsWith(line(completed));
    // The next line begins with nothing on it.
    terminal.type("", "C-c");
    await terminal.endsWith(line(""));
    // The prompt before looks like the one after.
    terminal.type("clear; echo cleared", "Enter");
    await terminal.shows(/^cleared$/m);
    await terminal.endsWith(line(""));
  });

  test("two that it may be are shown", async () => {
    terminal.type("sbx-stdio kill w", "Tab", "Tab");
    await terminal.shows(/webserver +.*worker/);
    expect(terminal.screen().join("\n")).not.toMatch(/command not found|error|sbx-stdio:/i);
  });
});
