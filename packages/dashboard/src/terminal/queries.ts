// All sequences that xterm.js 6.1 or images.ts answer while parsing, taken from xterm.js's InputHandler. The page must catch the answers,
// so that nothing reaches the process that no person typed.

import type { IDisposable, IFunctionIdentifier, Terminal } from "@xterm/xterm";

const CSI_QUERIES: readonly IFunctionIdentifier[] = [
  { final: "c" }, // DA1: device attributes
  { prefix: ">", final: "c" }, // DA2
  { prefix: "=", final: "c" }, // DA3
  { final: "n" }, // DSR: status, cursor position
  { prefix: "?", final: "n" }, // DSR, private
  { intermediates: "$", final: "p" }, // DECRQM: is an ANSI mode set?
  { prefix: "?", intermediates: "$", final: "p" }, // DECRQM, private
  { prefix: ">", final: "q" }, // XTVERSION
  { prefix: "?", final: "u" }, // Kitty's keyboard protocol: which flags?
  { final: "x" }, // DECREQTPARM
  { final: "t" }, // XTWINOPS: sizes and title, where windowOptions allows it
  { prefix: "?", final: "S" }, // XTSMGRAPHICS: how large images may be
  { prefix: "?", final: "h" }, // DECSET: setting mode 1004 reports the focus at once
];
const DCS_QUERIES: readonly IFunctionIdentifier[] = [
  { intermediates: "$", final: "q" }, // DECRQSS
  { intermediates: "+", final: "q" }, // XTGETTCAP
];
const OSC_QUERIES: readonly number[] = [
  4, // A colour of the palette
  5, // A special colour
  ...[10, 11, 12, 13, 14, 15, 16, 17, 18, 19], // Foreground, background, cursor and the like
  21, // Kitty's colours
  52, // The clipboard
];

/**
 * Calls `atQuery` just before the terminal handles a sequence that it may answer. The terminal still handles it, and sends its answer
 * before it parses on.
 */
export function watchQueries(terminal: Terminal, atQuery: () => void): IDisposable {
  const pass = () => {
    atQuery();
    return false;
  };
  const { parser } = terminal;
  const handlers = [
    ...CSI_QUERIES.map((id) => parser.registerCsiHandler(id, pass)),
    ...DCS_QUERIES.map((id) => parser.registerDcsHandler(id, pass)),
    ...OSC_QUERIES.map((ident) => parser.registerOscHandler(ident, pass)),
  ];
  return {
    dispose: () => {
      for (const handler of handlers) handler.dispose();
    },
  };
}
