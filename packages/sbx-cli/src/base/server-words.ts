// The server's refusals, in words that tell a person what to do about them. Pure.

import { CLOSE, type ClientEnd, type ProgramMode, type ServerMessage } from "sandbox-stdio/core";
import type { Endpoint } from "./endpoint.ts";
import { CliError } from "./outcome.ts";

type Refused = Extract<ClientEnd, { kind: "refused" }>;
type ErrorMessage = Extract<ServerMessage, { type: "error" }>;

/**
 * @param server The address to log in to.
 * @param session The session that may go on without us; undefined if none was reached.
 * @param resumeFile Where the place in it is kept; undefined where it is not.
 */
export function refusalWords(
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
  if (isOther && session === undefined) return addressWords(reason, server);
  if (code !== CLOSE.unauthenticated) return `${reason}${rest}`;
  const again = resumeFile === undefined ? "" : `; once let in again, the same command goes on from ${resumeFile}`;
  return `${reason}${adviceFor(reason, server, hasTicket)}${rest}${again}`;
}

/** A failure, with what a person may do about it. */
export function advised(error: CliError, { httpBase }: Endpoint): CliError {
  const { message, exitCode, code, check } = error;
  if (check === undefined) return error;
  const words =
    check === "login" ? `${message}${adviceFor(message, httpBase, false)}` : addressWords(message, httpBase);
  return new CliError(words, exitCode, { code, cause: error });
}

/** What this server says of a path that it does not know, below whatever it is reached. */
const NO_ROUTE = /^(no (GET|PUT|POST|DELETE) \/|not below \/)/;
const HTTP_TOO_MANY = 429;
const HTTP_FAULT = 500;

/** Whether something else was reached than the interface that was asked for. @param message Of its JSON, where it has one. */
export function isOtherServer(status: number, message: string | undefined): boolean {
  return message === undefined ? status < HTTP_FAULT && status !== HTTP_TOO_MANY : NO_ROUTE.test(message);
}

function addressWords(reason: string, server: string): string {
  return `${server} answers no sbx-stdio API (${reason}): check the name, the port and the path of the address; \`sbx-stdio doctor ${server}\` tries each step`;
}

/** A reason as a shell would put it: without the code before its words, which is for programs. */
export function plainReason(reason: string): string {
  const missing = /^cmd_not_found: (?:Cannot find )?(.*)$/s.exec(reason)?.[1];
  if (missing !== undefined) return `${missing}: command not found${lineHint(missing)}`;
  const refused = /^cmd_not_executable: (?:Cannot execute )?(.*)$/s.exec(reason)?.[1];
  const words = refused ?? reason.replace(/^[a-z]+(?:_[a-z]+)+: /, "");
  // The server speaks of the address's words, which nobody types here.
  return words
    .replace(/; role=viewer does not$/, ", which this token has not: it may look, with --role viewer")
    .replace(/^(no session ".*") to view$/, "$1 of yours to view (another person's is reached by the link they share)");
}

/** A whole line that was given as one word. */
const lineHint = (command: string) =>
  /\S\s+\S/.test(command) ? " (no shell reads it: for a line, bash -c 'LINE', or run --command 'LINE')" : "";

/** A shell's exit code for a command that it can't start: 127 for none, 126 for one that can't be executed. */
export function startFailureCode(error: string): number | undefined {
  if (error.startsWith("cmd_not_found")) return 127;
  return error.startsWith("cmd_not_executable") ? 126 : undefined;
}

/** No login makes a ticket good again. */
function adviceFor(reason: string, server: string, hasTicket: boolean): string {
  if (!hasTicket && /another (issuer|application)/.test(reason)) {
    return " (log in where this server's tokens come from: `sbx-stdio login --issuer URL --client-id ID`)";
  }
  if (hasTicket && !/ticket/i.test(reason)) {
    return ` (a login for this server, by \`sbx-stdio login ${server}\`, or --token is sent beside a ticket)`;
  }
  if (!hasTicket) {
    return ` (log in again with \`sbx-stdio login ${server}\`, or give a fresh SBX_TOKEN)`;
  }
  return /ask for another/.test(reason) ? "" : " (ask whoever shared it for another)";
}

export function expiryWords(seconds: number, hasTicket: boolean): string {
  return `${hasTicket ? "access to the session" : "the access token"} runs out in ${seconds} s`;
}

/** @param behind Output bytes that are here and not written yet. @param waiting Input bytes that the process has not taken. */
export function roundTripWords(ms: number, behind: number, waiting: number): string {
  return `round trip ${Math.round(ms)} ms · ${behind} bytes of output to be written · ${waiting} bytes of input to be taken`;
}

const LEFT_ON: { readonly [one in ProgramMode]: string } = {
  mouse: "the mouse",
  reports: "reports of the focus and the like",
  keys: "other codes for keys",
  screen: "its own screen",
  cursor: "the cursor hidden",
  characters: "other characters",
};

/** @param modes What has been undone. */
export function leftOnWords(modes: readonly ProgramMode[]): string {
  return `the program that has ended left on: ${modes.map((one) => LEFT_ON[one]).join(", ")}. Undone`;
}

export function errorWords({ code, message }: ErrorMessage): string {
  // Of this program's requests, only taking the keyboard is refused with so little.
  const isTake = code === "not_allowed" && message === "not allowed";
  return isTake ? "taking the keyboard needs the scope sandbox:admin" : message;
}
