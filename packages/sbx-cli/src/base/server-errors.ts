// The server's refusals as messages that say what to do. Pure.

import { CLOSE, type ClientEnd, type ProgramMode, type ServerMessage } from "sandbox-stdio/core";
import type { Endpoint } from "./endpoint.ts";
import { CliError } from "./outcome.ts";

type Refused = Extract<ClientEnd, { kind: "refused" }>;
type ErrorMessage = Extract<ServerMessage, { type: "error" }>;

/**
 * @param server The address to log in to. @param session The session that may still run; undefined if none was reached.
 * @param resumeFile The file with the position; undefined if there is none.
 */
export function refusalMessage(
  { code, reason: why }: Refused,
  server: string,
  hasTicket: boolean,
  session: string | undefined,
  resumeFile?: string,
): string {
  const reason = plainReason(why);
  const isLost = code === CLOSE.notFound && reason.startsWith("process lost");
  const rest = session === undefined || isLost ? "" : `; session ${session} may still be running`;
  const isOther = NO_ROUTE.test(why) || /^the server answered HTTP (200|404|405)\b/.test(why);
  if (isOther && session === undefined) return wrongAddressMessage(reason, server);
  if (code !== CLOSE.unauthenticated) return `${reason}${rest}`;
  const again = resumeFile === undefined ? "" : `; after a login the same command resumes from ${resumeFile}`;
  return `${reason}${adviceFor(reason, server, hasTicket)}${rest}${again}`;
}

/** The error with advice for a person. */
export function withAdvice(error: CliError, { httpBase }: Endpoint): CliError {
  const { message, exitCode, code, check } = error;
  if (check === undefined) return error;
  const words =
    check === "login" ? `${message}${adviceFor(message, httpBase, false)}` : wrongAddressMessage(message, httpBase);
  return new CliError(words, exitCode, { code, cause: error });
}

/** This server's message for unknown paths. */
const NO_ROUTE = /^(no (GET|PUT|POST|DELETE) \/|not below \/)/;
const HTTP_TOO_MANY = 429;
const HTTP_FAULT = 500;

/** Whether the answer is not from this server's API. @param message The message of its JSON, if any. */
export function isOtherServer(status: number, message: string | undefined): boolean {
  return message === undefined ? status < HTTP_FAULT && status !== HTTP_TOO_MANY : NO_ROUTE.test(message);
}

function wrongAddressMessage(reason: string, server: string): string {
  return `no sbx-stdio API at ${server} (${reason}): check host, port and path, or run \`sbx-stdio doctor ${server}\``;
}

/** A reason as a shell would put it, without the code in front, which is for programs. */
export function plainReason(reason: string): string {
  const missing = /^cmd_not_found: (?:Cannot find )?(.*)$/s.exec(reason)?.[1];
  if (missing !== undefined) return `${missing}: command not found${lineHint(missing)}`;
  const refused = /^cmd_not_executable: (?:Cannot execute )?(.*)$/s.exec(reason)?.[1];
  const words = refused ?? reason.replace(/^[a-z]+(?:_[a-z]+)+: /, "");
  // The server names query parameters, which nobody types here.
  return words
    .replace(/; role=viewer does not$/, ", which this token lacks; use --role viewer to watch")
    .replace(
      /^(no session ".*") to view$/,
      "$1 of yours to view (for another person's session use the link they share)",
    );
}

/** Advice for a whole command line in one word. */
const lineHint = (command: string) =>
  /\S\s+\S/.test(command)
    ? " (run without a shell; for a command line use bash -c 'LINE', or run --command 'LINE')"
    : "";

/** A shell's exit code for a command that can't be started: 127 not found, 126 not executable. */
export function startFailureCode(error: string): number | undefined {
  if (error.startsWith("cmd_not_found")) return 127;
  return error.startsWith("cmd_not_executable") ? 126 : undefined;
}

/** Advice for a failed authentication. A login does not help with an invalid ticket. */
function adviceFor(reason: string, server: string, hasTicket: boolean): string {
  if (!hasTicket && /another (issuer|application)/.test(reason)) {
    return " (log in with this server's issuer: `sbx-stdio login --issuer URL --client-id ID`)";
  }
  if (hasTicket && !/ticket/i.test(reason)) {
    return ` (log in with \`sbx-stdio login ${server}\`, or use --token: either is sent with the ticket)`;
  }
  if (!hasTicket) {
    return ` (log in again with \`sbx-stdio login ${server}\`, or set a new SBX_TOKEN)`;
  }
  return /ask for another/.test(reason) ? "" : " (ask for a new share link)";
}

export function expiryMessage(seconds: number, hasTicket: boolean): string {
  return `${hasTicket ? "access to the session" : "the access token"} expires in ${seconds} s`;
}

/** @param behind Output bytes not yet written. @param waiting Input bytes that the process has not taken. */
export function roundTripMessage(ms: number, behind: number, waiting: number): string {
  return `round trip ${Math.round(ms)} ms · ${behind} bytes of output pending · ${waiting} bytes of input pending`;
}

const LEFT_ON: { readonly [one in ProgramMode]: string } = {
  mouse: "mouse reports",
  reports: "focus and other reports",
  keys: "key encodings",
  screen: "the alternate screen",
  cursor: "a hidden cursor",
  characters: "another character set",
};

/** @param modes The modes that were reset. */
export function leftOnMessage(modes: readonly ProgramMode[]): string {
  return `reset what the ended program left on: ${modes.map((one) => LEFT_ON[one]).join(", ")}`;
}

export function serverErrorMessage({ code, message }: ErrorMessage): string {
  // Only force_take is refused with so short a message.
  const isTake = code === "not_allowed" && message === "not allowed";
  return isTake ? "taking the keyboard needs the scope sandbox:admin" : message;
}
