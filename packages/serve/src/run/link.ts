// Telling a person the link: its key is for one reader's eyes, so it goes to a terminal, or into a file of the owner's.
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { renderUnicodeCompact } from "uqr";
import { writePrivateFile } from "../../../local/src/base/files.ts";
import type { Person } from "../../../local/src/issuer/tokens.ts";
import { ServeError } from "../base/refusal.ts";
import type { State } from "../base/state.ts";
import { KEY_MINUTES, makeKey } from "../logins/keys.ts";

export type LinkPlace = {
  readonly state: State;
  readonly linkFile: string | undefined;
  readonly isTerminal: boolean;
  readonly columns: number;
};

/**
 * @param path Behind the origin: `/?sandbox=…`.
 * @returns What is printed. @throws {ServeError} If nobody could read it but a log.
 */
export function tellLink(origin: string, path: string, person: Person, place: LinkPlace): string {
  const { state, linkFile, isTerminal, columns } = place;
  if (linkFile === undefined && !isTerminal) throw new ServeError(noReader);
  // Another kind of file, such as a device, would be replaced.
  if (linkFile !== undefined && statSync(linkFile, { throwIfNoEntry: false })?.isFile() === false)
    throw new ServeError(`--link-file ${linkFile} is there already, and is no file`);
  if (linkFile !== undefined && !existsSync(dirname(resolve(linkFile))))
    throw new ServeError(`--link-file ${linkFile}: there is no such folder`);
  const link = `${origin}${path}#key=${makeKey(state.keysDir, person)}`;
  if (linkFile !== undefined) {
    writePrivateFile(linkFile, `${link}\n`);
    return `A link, good once and for ${KEY_MINUTES} minutes, is in ${linkFile}`;
  }
  const code = renderUnicodeCompact(link, { border: 2 });
  // A picture whose lines break is none.
  const isShown = (code.split("\n")[0] ?? "").length <= columns;
  return `${isShown ? `${code}\n` : ""}\n  ${link}\n\n  It is good once and for ${KEY_MINUTES} minutes; sbx-stdio serve link${state.options} makes the next one.`;
}

export const noReader =
  "a link opens a shell here, so it is not printed into a pipe or a log: run this in a terminal, or with --link-file FILE";
