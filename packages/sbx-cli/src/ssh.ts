// ssh's place: the words behind its ProxyCommand, and the entry for its configuration. Pure.

import { quote } from "sandbox-stdio/core";
import type { AttachWish, CliCommand } from "./cli-command.ts";
import type { Endpoint } from "./endpoint.ts";

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
    delivery: "lossless",
    ticket: undefined,
    ticketFrom: undefined,
    resumeFile: undefined,
    hasStatus: false,
    isVerbose: false,
  };
}

function wayWords({ httpBase, isPrivate }: Endpoint): string {
  if (httpBase.startsWith("https:")) return "is encrypted and authenticated already";
  return isPrivate
    ? "does not leave this machine"
    : "is NOT encrypted: whoever sits on it can take the token, and pass for the sandbox. Use an https address";
}

export function sshConfig({ words, host, user, endpoint }: Extract<CliCommand, { kind: "ssh-config" }>): string {
  // To ssh, % and the next character are a name for something else.
  const proxy = words.map(quote).join(" ").replaceAll("%", "%%");
  return `Host ${host}
${user === undefined ? "" : `  User ${user}\n`}  ProxyCommand ${proxy}
  # The way there ${wayWords(endpoint)}.
  # The sandbox's own host key is made anew with each container: ssh can't know it.
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
`;
}
