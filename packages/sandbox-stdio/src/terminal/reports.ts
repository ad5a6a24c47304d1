// Tells answers that a terminal sends by itself from text that a person types.

/** Longer answers, such as a clipboard's, are treated like other input. */
const MAX_REPORT_BYTES = 4096;
const ESC = 0x1b;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are what terminals send
const REPORTS = new RegExp(
  `^(?:${[
    /\x1b\[\??\d+;\d+(?:;\d+)?R/, // cursor position
    /\x1b\[[?>=][\d;]*c/, // device attributes
    /\x1b\[\??\d+(?:;\d+)*n/, // device status
    /\x1b\[\??\d+;\d\$y/, // mode
    /\x1b\[\d+(?:;\d+)*[tx]/, // window, terminal parameters
    /\x1b\[\?\d+u/, // keyboard protocol
    /\x1b\[[IO]/, // focus
    /\x1b\]\d+;[^\x00-\x1f\x7f]*(?:\x07|\x1b\\)/, // colours and the like
    /\x1bP[^\x00-\x1f\x7f]*\x1b\\/, // settings, name and version
  ]
    .map(({ source }) => source)
    .join("|")})+$`,
);
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: above

/** Whether these bytes are whole answers of a terminal and nothing else. */
export function isReport(bytes: Uint8Array): boolean {
  if (bytes[0] !== ESC || bytes.length > MAX_REPORT_BYTES) return false;
  return REPORTS.test(String.fromCharCode(...bytes));
}
