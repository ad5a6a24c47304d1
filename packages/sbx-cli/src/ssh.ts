// ssh's place: the words behind its ProxyCommand, and the entry for its configuration. Pure.

import { quote } from "sandbox-stdio/core";
import type { AttachWish, CliCommand } from "./cli-command.ts";

/** A server for one connection on three pipes; whatever ssh does is its own affair. */
export function sshProxyWish(command: Extract<CliCommand, { kind: "ssh-proxy" }>): AttachWish {
  const { kind: _, cmd, args, ...place } = command;
  return {
    ...place,
    session: undefined,
    cmd,
    args,
    env: [],
    cwd: undefined,
    tty: false,
    name: undefined,
    role: undefined,
    mode: undefined,
    delivery: "lossless",
    keep: undefined,
    ticket: undefined,
    ticketFrom: undefined,
    resumeFile: undefined,
    hasStatus: false,
    isVerbose: false,
  };
}

export function sshConfig({ words, host, user }: Extract<CliCommand, { kind: "ssh-config" }>): string {
  return `Host ${host}
${user === undefined ? "" : `  User ${user}\n`}  ProxyCommand ${words.map(quote).join(" ")}
  # The way there is encrypted and authenticated already; the sandbox's own host key is made anew with each container.
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
`;
}
