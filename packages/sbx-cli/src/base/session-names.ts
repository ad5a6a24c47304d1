// Generated names of sessions, and which of them belong to cp and forward.

import { randomBytes } from "node:crypto";

/** Set when this program starts itself to carry a copy. */
export const NAME_KIND = "SBX_NAME_KIND";

type Kind = "cli" | "run" | "tcp" | "cp";

/** A unique name, with 40 random bits. */
export function freshSessionName(kind: Kind = process.env[NAME_KIND] === "cp" ? "cp" : "cli"): string {
  let bits = 0n;
  for (const byte of randomBytes(5)) bits = (bits << 8n) | BigInt(byte);
  return `${kind}-${bits.toString(32).padStart(8, "0")}`;
}

const OF_COMMANDS = /^(cp|tcp)-[0-9a-v]{8}$/;
const OF_PAGES = /^(upload|download)-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Whether `cp`, `forward` or a page's transfer created the session. */
export function isTransfer({ session, cmd }: Readonly<Record<string, unknown>>): boolean {
  const name = String(session);
  return OF_COMMANDS.test(name) || OF_PAGES.test(name) || /^tcp:\d+$/.test(String(cmd));
}
