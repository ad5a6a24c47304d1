// Everything to which xterm.js 6.0, or images.ts, answers by itself while it parses: the page must catch it, so that nothing is typed into
// a process that no person typed. From its InputHandler, every place that sends data.

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
 * Calls `atQuery` just before the terminal deals with a sequence that it may answer. The terminal deals with it all the
 * same: a colour that is set stays set. It sends its answer before it goes on parsing.
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
