// Limits the time and memory that one sequence costs xterm.js 6.1, in the bridge's emulator and on the page. A program may print
// any number and length, and xterm.js works through all of it before it returns.

import { COUNTS, maxCountOf } from "./counts.ts";
import type { XtermTerminal } from "./xterm-fault.ts";

/** Longer OSC and DCS are ignored. xterm.js itself would keep ten million characters. */
const MAX_STRING_LENGTH = 65_536;
const STRING_LIMITS: ReadonlyMap<number, number> = new Map([
  // xterm.js repeatedly removes the first pair of the list, so its time grows with the square of the length.
  [4, 16_384],
  [104, 16_384],
  [8, 4_096],
  // Base64 text for the clipboard; the page has its own limit.
  [52, 524_288],
]);
/** Image sequences: OSC 1337, and DCS with the final `q` alone. */
const ITERM_OSC = 1337;
const SIXEL_DCS = 0x71;
/** Most UTF-16 units in one cell; further combining characters are not drawn. */
const MAX_CELL_LENGTH = 32;
/** Most hyperlinks on screen and scrollback, since every scroll visits each. Later text is drawn without its link. */
const MAX_LINKS = 10_000;
/** Sequences for which xterm.js loops or allocates by count. The others cost the same for any number. */
const COUNTED_IN_LOOPS = ["I", "Z", "L", "M", "S", "T", "^", "b"] as const;
/** xterm.js allocates memory for the whole cell this many times. */
const MAX_REPEATS = 65_536;
/** State of xterm.js' OSC parser in which the rest of the payload is ignored. */
const ABORTED = 3;

type Params = { readonly params: Int32Array };
type StringParser = { reset(): void; put(data: Uint32Array, start: number, end: number): void };
type OscParser = StringParser & { readonly _id: number; _state: number; start(): void };
type DcsParser = StringParser & { hook(ident: number, params: unknown): void };
type Line = { readonly _combined: { readonly [column: number]: string | undefined } };
type LinePrototype = { addCodepointToCell(this: Line, column: number, code: number, width: number): void };
type Core = {
  readonly _inputHandler: {
    readonly _parser: {
      readonly _oscParser: OscParser;
      readonly _dcsParser: DcsParser;
      registerCsiHandler(id: { readonly final: string }, handler: (params: Params) => boolean): unknown;
    };
  };
  readonly _oscLinkService: {
    readonly _dataByLinkId: { readonly size: number };
    registerLink(link: unknown): number;
  };
  readonly buffers: { readonly normal: { readonly lines: { get(row: number): object | undefined } } };
};

const limited = new WeakSet<object>();

/**
 * Limits the cost of a sequence to what the terminal's screen can show. Plain text costs no more than before.
 * @param imageLength Longest image sequence (sixel, iTerm2), if images are drawn.
 * @throws {Error} If the terminal is not the version that this was written for.
 */
export function limitWork(terminal: XtermTerminal, imageLength = MAX_STRING_LENGTH): void {
  const core = coreOf(terminal);
  const { _parser: parser } = core._inputHandler;
  limitCounts(terminal, parser);
  limitOsc(parser._oscParser, new Map([...STRING_LIMITS, [ITERM_OSC, imageLength]]));
  limitDcs(parser._dcsParser, imageLength);
  limitLinks(core._oscLinkService);
  const line = core.buffers.normal.lines.get(0);
  if (line !== undefined) limitCells(Object.getPrototypeOf(line));
}

/** Later handlers see the lower number, since the parser passes the same object to all. */
function limitCounts(terminal: XtermTerminal, parser: Core["_inputHandler"]["_parser"]): void {
  for (const final of COUNTED_IN_LOOPS) {
    const unit = COUNTS.get(final) ?? "cols";
    parser.registerCsiHandler({ final }, ({ params }) => {
      const most = Math.min(maxCountOf(unit, terminal), MAX_REPEATS);
      if ((params[0] ?? 0) > most) params[0] = most;
      return false;
    });
  }
}

function limitOsc(osc: OscParser, limits: ReadonlyMap<number, number>): void {
  const [start, put] = [osc.start.bind(osc), osc.put.bind(osc)];
  let length = 0;
  osc.start = () => {
    length = 0;
    start();
  };
  osc.put = (data, from, to) => {
    length += to - from;
    put(data, from, to);
    if (length <= (limits.get(osc._id) ?? MAX_STRING_LENGTH)) return;
    // Makes the handlers drop what they have collected.
    osc.reset();
    osc._state = ABORTED;
  };
}

function limitDcs(dcs: DcsParser, imageLength: number): void {
  const [hook, put] = [dcs.hook.bind(dcs), dcs.put.bind(dcs)];
  let length = 0;
  let most = MAX_STRING_LENGTH;
  dcs.hook = (ident, params) => {
    length = 0;
    most = ident === SIXEL_DCS ? imageLength : MAX_STRING_LENGTH;
    hook(ident, params);
  };
  dcs.put = (data, from, to) => {
    if (length > most) return;
    length += to - from;
    put(data, from, to);
    if (length > most) dcs.reset();
  };
}

function limitLinks(links: Core["_oscLinkService"]): void {
  const register = links.registerLink.bind(links);
  links.registerLink = (link) => (links._dataByLinkId.size < MAX_LINKS ? register(link) : 0);
}

/** All terminals of one build share the class, so it is patched once. */
function limitCells(prototype: LinePrototype): void {
  if (limited.has(prototype)) return;
  limited.add(prototype);
  const { addCodepointToCell: add } = prototype;
  prototype.addCodepointToCell = function (column, code, width) {
    if ((this._combined[column]?.length ?? 0) < MAX_CELL_LENGTH) add.call(this, column, code, width);
  };
}

function coreOf(terminal: XtermTerminal): Core {
  const { _core: core } = terminal as { _core?: Core };
  const parser = core?._inputHandler?._parser;
  const isKnown =
    parser?._oscParser?._state !== undefined &&
    parser._dcsParser?.hook !== undefined &&
    core?._oscLinkService?._dataByLinkId !== undefined;
  if (core === undefined || !isKnown) throw new Error("Cannot limit the terminal: need xterm.js 6.1.0-beta.303");
  return core;
}
