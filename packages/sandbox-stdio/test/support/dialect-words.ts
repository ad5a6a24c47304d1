// How the clients of each dialect type and resize, for tests of all dialects.

import { ALIS } from "../../src/dialects/alis.ts";
import { DIALECT_ROUTES, type Dialect, type Frame } from "../../src/index.ts";
import { bytes } from "./fixtures.ts";

type Words = { typed(text: string): Frame; readonly resized: string };

const TYPED_RESIZE = '{"type":"resize","cols":90,"rows":30}';
const BINARY: Words = { typed: bytes, resized: TYPED_RESIZE };

/** By the dialect's name. A new dialect needs a row. */
const WORDS: Readonly<Record<string, Words>> = {
  stdio: BINARY,
  plain: BINARY,
  addon: BINARY,
  pty: BINARY,
  "pty-shared": BINARY,
  "sandbox-pty": BINARY,
  json: { typed: (data) => JSON.stringify({ type: "input", data }), resized: TYPED_RESIZE },
  ttyd: { typed: (text) => bytes(`0${text}`), resized: '1{"columns":90,"rows":30}' },
};

/** Dialects whose clients may type: those of ALiS say nothing. */
export const TYPING = [...new Set(DIALECT_ROUTES.map(({ dialect }) => dialect))].filter((dialect) => dialect !== ALIS);

export function wordsOf({ name }: Dialect): Words {
  const words = WORDS[name];
  if (words === undefined) throw new Error(`dialect-words.ts has no row for the dialect "${name}"`);
  return words;
}
