// Examples in the help of every verb. A test parses each of them.

import type { Command } from "commander";

/** Lines by verb; "" is the program itself, which attaches. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": [
    "sbx-stdio https://host/attach --sandbox dev",
    "sbx-stdio https://host --sandbox dev -- npm test",
    "sbx-stdio share https://host --sandbox dev --session build",
    'sbx-stdio https://host --sandbox dev --cmd bash --arg -lc --arg "npm test"',
    "tar c src | sbx-stdio https://host --sandbox dev -- tar xC /workspace",
    "sbx-stdio context set work https://host --sandbox dev   # then: sbx-stdio -- npm test",
  ],
  attach: [
    "sbx-stdio attach https://host --sandbox dev --session build",
    "sbx-stdio attach web                                # with the server of the context",
    "sbx-stdio attach web --create                       # starts a shell if it is not running",
    "sbx-stdio attach --context work                     # choose from a list",
  ],
  exec: [
    "sbx-stdio exec https://host --sandbox dev -- npm test",
    "sbx-stdio exec https://host -it -e EDITOR=vim -w /workspace -- bash",
    "sbx-stdio exec https://host -- tar xz -C /workspace < src.tar.gz",
  ],
  run: [
    "sbx-stdio run https://host --sandbox dev -- npm test",
    "sbx-stdio run https://host --command 'ls | wc -l' --json",
    "sbx-stdio run https://host --detach --session web -- npm start",
  ],
  read: [
    "sbx-stdio read https://host --session web --tail 2000 --format plain",
    "sbx-stdio read https://host --session web --from 4096 --follow",
  ],
  write: [
    "sbx-stdio write https://host --session web --text 'ls -l' --enter",
    "sbx-stdio write https://host --session web --keys C-c",
    "sbx-stdio write https://host --session load --eof < data.json",
  ],
  wait: [
    "sbx-stdio wait https://host --session web --match 'ready on port (\\d+)' --from 0 --timeout 1m",
    "sbx-stdio wait https://host --session build --exit --timeout 10m",
    "sbx-stdio wait https://host --session shell --command-end",
  ],
  ask: ["sbx-stdio ask https://host --session shell --reason 'the password of sudo' --secret"],
  screen: [
    "sbx-stdio screen https://host --session shell",
    "sbx-stdio screen https://host --session shell --scrollback 100 --json",
  ],
  commands: ["sbx-stdio commands https://host --session shell"],
  signal: ["sbx-stdio signal https://host --session web SIGINT"],
  ls: ["sbx-stdio ls https://host", "sbx-stdio ls https://host --sandbox dev --all --watch"],
  sessions: ["sbx-stdio sessions https://host --sandbox dev --json"],
  logs: [
    "sbx-stdio logs https://host --session web -n 20 -f",
    "sbx-stdio logs https://host --session web --since 10m",
    "sbx-stdio logs https://host --session web --since 14:03",
    "sbx-stdio logs web                                  # with the server of the context",
  ],
  record: [
    "sbx-stdio record https://host --session build -o build.cast     # from now on, until it ends or Ctrl+C",
    "sbx-stdio record web --stored -o web.cast                       # what the server has recorded",
  ],
  recordings: [
    "sbx-stdio recordings list https://host --session web",
    "sbx-stdio recordings hold web --reason 'case 12'",
    "sbx-stdio recordings remove web --all",
  ],
  replay: [
    "sbx-stdio replay build.cast --speed 4 --idle-limit 2",
    "sbx-stdio replay https://host --session web --from 14:03        # the server's recording",
    "sbx-stdio replay - --speed max < build.cast > screen.txt",
  ],
  kill: ["sbx-stdio kill https://host --session web", "sbx-stdio kill web worker"],
  whoami: ["sbx-stdio whoami https://host"],
  doctor: ["sbx-stdio doctor https://host --sandbox dev", "sbx-stdio doctor --start --json"],
  share: [
    "sbx-stdio share https://host --session build",
    "sbx-stdio share https://host --session build --role driver --seconds 3600 --guests",
  ],
  tickets: ["sbx-stdio tickets https://host --session build"],
  revoke: ["sbx-stdio revoke https://host --session build 3f6c2a"],
  login: [
    "sbx-stdio login https://host",
    "sbx-stdio login https://host --issuer https://issuer.example --client-id my-cli --no-browser",
  ],
  logout: ["sbx-stdio logout https://host"],
  context: [
    "sbx-stdio context set work https://host --sandbox dev",
    "sbx-stdio context set ci https://host --sandbox ci --token-command 'cat /run/secrets/token'",
    "sbx-stdio context use work",
  ],
  "ssh-proxy": ["ssh -o ProxyCommand='sbx-stdio ssh-proxy https://host --sandbox dev' root@dev"],
  "ssh-config": ["sbx-stdio ssh-config https://host --sandbox dev --host dev >> ~/.ssh/config   # then: ssh dev"],
  cp: [
    "sbx-stdio cp https://host --sandbox dev src :/workspace",
    "sbx-stdio cp https://host :/workspace/report.txt .",
    "sbx-stdio cp https://host a.txt b.txt :/workspace/       # several into a folder",
    "sbx-stdio cp https://host :/workspace/log - > log        # print the file",
  ],
  forward: [
    "sbx-stdio forward https://host --sandbox dev 8080        # http://127.0.0.1:8080 is the sandbox's port 8080",
    "sbx-stdio forward https://host --sandbox dev 9000:5432   # local port 9000, remote port 5432",
    "sbx-stdio forward https://host --sandbox dev 0:5432      # any free local port",
  ],
  completion: [
    "sbx-stdio completion bash > ~/.local/share/bash-completion/completions/sbx-stdio",
    "sbx-stdio completion zsh > ~/.zfunc/_sbx-stdio           # a directory of $fpath",
    "sbx-stdio completion fish > ~/.config/fish/completions/sbx-stdio.fish",
  ],
  codex: ["sbx-stdio codex https://host --sandbox dev --print-config program"],
  mcp: ["claude mcp add sandbox -- sbx-stdio mcp https://host --sandbox dev   # for Claude Code"],
  serve: [
    "sbx-stdio serve                                     # a shell here, in the browser that opens the printed link",
    "sbx-stdio serve --readonly -- htop",
    "sbx-stdio serve user alice --role viewer",
  ],
  man: ["sbx-stdio man > sbx-stdio.1   # then: man -l ./sbx-stdio.1"],
  version: ["sbx-stdio version --json"],
};

/** Appends the verb's examples to its help. */
export function addExamples(command: Command, verb: string): void {
  const lines = EXAMPLES[verb];
  if (lines !== undefined) command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}\n`).join("")}`);
}
