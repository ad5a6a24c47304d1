// ssh: the process behind ProxyCommand, and the entry for ~/.ssh/config. Pure.

import { quote } from "sandbox-stdio/core";
import type { AttachRequest, CliCommand } from "../args/cli-command.ts";
import type { Endpoint } from "../base/endpoint.ts";

/** An ssh server for one connection, on three pipes. */
export function sshProxyWish(command: Extract<CliCommand, { kind: "ssh-proxy" }>): AttachRequest {
  const { kind: _, cmd, args, ...target } = command;
  return {
    ...target,
    session: undefined,
    cmd,
    args,
    env: [],
    cwd: undefined,
    tty: false,
    delivery: "lossless",
    ticket: undefined,
    ticketFrom: undefined,
    resumeFile: undefined,
    hasStatus: false,
    isVerbose: false,
  };
}

function securityNote({ httpBase, isPrivate }: Endpoint): string {
  if (httpBase.startsWith("https:")) return "is encrypted and authenticated already";
  return isPrivate
    ? "does not leave this machine"
    : "is NOT encrypted: anyone on the network can steal the token and impersonate the sandbox. Use an https address";
}

export function sshConfig({ words, host, user, endpoint }: Extract<CliCommand, { kind: "ssh-config" }>): string {
  // ssh expands % and the next character.
  const proxy = words.map(quote).join(" ").replaceAll("%", "%%");
  return `Host ${host}
${user === undefined ? "" : `  User ${user}\n`}  ProxyCommand ${proxy}
  # The connection ${securityNote(endpoint)}.
  # Each container generates a new host key, so ssh can't verify it.
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
`;
}
