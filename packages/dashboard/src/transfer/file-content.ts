// What a file's first bytes are: a picture, text, or neither. Its name says nothing. Pure.

import { latin1 } from "sandbox-stdio/core";

/** What is shown of a file. */
export type FileContent = {
  readonly bytes: number;
  /** When it was changed, as `ls` writes it. */
  readonly date: string;
  /** The beginning of a text; absent for other bytes. */
  readonly text?: { readonly shown: string; readonly bytes: number };
  /** A picture, as an address. */
  readonly picture?: string;
};

const HEAD = 8_192;

const PICTURES: readonly (readonly [type: string, start: RegExp])[] = [
  ["png", /^\x89PNG\r\n/],
  ["jpeg", /^\xff\xd8\xff/],
  ["gif", /^GIF8[79]a/],
  ["webp", /^RIFF.{4}WEBP/s],
  ["svg+xml", /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype[^>[]*>\s*)?<svg[\s>]/i],
];

/** The media type of the picture that begins so. */
export function pictureType(bytes: Uint8Array): string | undefined {
  const head = latin1(bytes.subarray(0, HEAD)).replace(/<!--.*?-->\s*/gs, "");
  const found = PICTURES.find(([, start]) => start.test(head))?.[0];
  return found && `image/${found}`;
}

/** A text's beginning, of a file that may be longer. @returns undefined if it is no text. */
export function textOfFile(bytes: Uint8Array, isCut: boolean): string | undefined {
  // A cut within a character shows nothing of it.
  const text = new TextDecoder().decode(bytes, { stream: isCut });
  const head = text.slice(0, HEAD);
  // Another encoding than UTF-8 is still read, with some marks in it.
  const marks = head.split("\ufffd").length - 1;
  return head.includes("\0") || marks > head.length / 10 ? undefined : text;
}
