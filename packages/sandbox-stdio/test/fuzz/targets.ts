// What is fuzzed: each decoder of the package, with inputs to start from and what must hold of its answer to any input.
// An answer is also given a name, by which a run knows that an input made it do something new.

import { isDeepStrictEqual } from "node:util";
import { decodeArchive, encodeArchive } from "../../src/output/log-archive.ts";
import { OutputLog } from "../../src/output/output-log.ts";
import { isPaneName } from "../../src/panes/commands.ts";
import { type ControlEvent, ControlMode } from "../../src/panes/control-mode.ts";
import { panesOf, parseLayout } from "../../src/panes/layout.ts";
import { readPaneList } from "../../src/panes/pane-list.ts";
import type { Dialect } from "../../src/server/dialect.ts";
import { QueryFilter } from "../../src/terminal/query-filter.ts";
import { decodeUtf8, splitUtf8 } from "../../src/text/utf8-text.ts";
import { attachParams, parseAttachQuery } from "../../src/wire/attach-query.ts";
import { type ControlResult, parseClientMessage, parseServerMessage } from "../../src/wire/control.ts";
import { decodeFrame, decodeStdin, encodeFrame, encodeStdin } from "../../src/wire/frames.ts";
import { parseInnerCommand, parseInnerMessage } from "../../src/wire/inner-messages.ts";
import { parseListings } from "../../src/wire/listing.ts";
import { TYPING, wordsOf } from "../support/dialect-words.ts";
import { FROM_CLIENT, FROM_SERVER, INNER_COMMANDS, INNER_MESSAGES } from "../support/messages.ts";

export type Target = {
  readonly name: string;
  readonly seeds: readonly (string | Uint8Array)[];
  /** @returns What kind of answer it was. @throws {Error} If something does not hold. */
  check(input: Uint8Array): string;
};

const FOREIGN_TEXTS = [
  '{"type":"input","data":"ls\\n"}',
  '{"AuthToken":"t","columns":80,"rows":24}',
  "0ls\n",
  '1{"columns":80,"rows":24}',
  "2",
  "3",
  '{"type":"stdin","data":"bHM="}',
];

function textTarget<M extends { readonly type: string }>(
  name: string,
  seeds: readonly string[],
  parse: (text: string) => ControlResult<M>,
): Target {
  return {
    name,
    seeds,
    check: (input) => {
      const result = parse(decodeUtf8(input));
      if (!result.ok) {
        if (result.detail === "") throw new Error("refused without a word");
        return result.fault;
      }
      // What was taken is taken again as the same: nothing is read out of it that it does not say.
      const again = parse(JSON.stringify(result.message));
      if (JSON.stringify(again) !== JSON.stringify(result)) throw new Error("not the same when read again");
      return `ok ${result.message.type}`;
    },
  };
}

function dialectTarget(dialect: Dialect): Target {
  const { typed, resized } = wordsOf(dialect);
  return {
    name: `dialect ${dialect.name}`,
    seeds: [...FROM_CLIENT, ...FOREIGN_TEXTS, typed("ls\n"), resized],
    check: (input) => {
      const kinds = [input, decodeUtf8(input)].map((frame) => {
        const decoded = dialect.decode(frame);
        if (decoded.kind === "close" && (decoded.code < 1000 || decoded.code > 4999 || decoded.reason === "")) {
          throw new Error(`closed with ${decoded.code} "${decoded.reason}"`);
        }
        return decoded.kind === "command" ? decoded.command.type : decoded.kind;
      });
      const output = new Uint8Array([1, ...input]);
      dialect.encode({ type: "output", frame: output, end: input.length }, dialect.start);
      return kinds.join(" ");
    },
  };
}

const frames: Target = {
  name: "frames of output",
  seeds: [Uint8Array.of(1, 65), Uint8Array.of(2), Uint8Array.of(3, 27), Uint8Array.of(9, 1)],
  check: (input) => {
    const frame = decodeFrame(input);
    if (frame.kind === "unknown") return "unknown";
    if (Buffer.compare(encodeFrame(input[0] as 1 | 2 | 3, frame.bytes), input) !== 0)
      throw new Error("not the same again");
    return frame.kind;
  },
};

const stdinFrames: Target = {
  name: "frames of input on the inner hop",
  seeds: [encodeStdin(1, 0, Uint8Array.of(65)), encodeStdin(0xffff_ffff, 2 ** 52, new Uint8Array(0))],
  check: (input) => {
    const frame = decodeStdin(input);
    if (frame === undefined) return "undefined";
    if (!Number.isSafeInteger(frame.offset)) throw new Error(`offset ${frame.offset}`);
    if (Buffer.compare(encodeStdin(frame.slot, frame.offset, frame.bytes), input) !== 0)
      throw new Error("not the same again");
    return "stdin";
  },
};

const queries: Target = {
  name: "queries of /attach",
  seeds: [
    "sandbox=dev&session=build&cmd=sh&arg=-c&arg=ls&tty=1&cols=80&rows=24",
    "mode=exclusive&delivery=lossless&keep=5&role=viewer&name=A%20B&wake=0",
    "session=s&resume=r&offset=5&stdin=new&attempt=abc.7&env=A%3Db",
    "session=s&panes=1&cmd=sh",
    "session=s&pane=main:3",
    "cmd=tmux&arg=-CC&arg=new",
  ],
  check: (input) => {
    const result = parseAttachQuery(new URLSearchParams(Buffer.from(input).toString("latin1")));
    if (!result.ok) {
      if (!/^("[^"]+"|the command) /.test(result.detail)) throw new Error(`refused without a name: ${result.detail}`);
      return result.detail.replace(/\d+/g, "N");
    }
    const again = parseAttachQuery(new URLSearchParams(attachParams(result.query)));
    // Written, what the session's delivery is by default becomes what the client asks for.
    const expected = { ...result, query: { ...result.query, delivery: result.query.process.delivery } };
    // A field that is undefined is as good as none.
    const [was, is]: unknown[] = [expected, again].map((one) => JSON.parse(JSON.stringify(one)));
    if (!isDeepStrictEqual(is, was)) throw new Error("not the same when written and read again");
    return "ok";
  },
};

const controlMode: Target = {
  name: "control mode of tmux",
  seeds: [
    "%begin 1 2 1\n%0 @0\n%end 1 2 1\n",
    "\x1bP1000p%begin 1 2 0\r\n%error 1 2 0\r\n%session-changed $0 main\r\n",
    "%output %0 a\\033[1mb\\134\n%extended-output %1 5 : x\n%pause %1\n%exit why\n",
    "%layout-change @0 b25d,80x24,0,0,0 b25d,80x24,0,0,0 *\n%window-add @1\n%subscription-changed names $0 @0 0 %0 : x\n",
  ],
  check: (input) => {
    const told = (...pieces: readonly Uint8Array[]) => {
      const mode = new ControlMode();
      const types = new Set<string>();
      // Output may come in as many events as pieces.
      const others = pieces.flatMap((piece) =>
        mode.push(piece).flatMap((event) => {
          types.add(event.type);
          return event.type === "output" ? [] : [asText(event)];
        }),
      );
      return { types: [...types].sort().join(" "), others: others.join() };
    };
    const cut = Math.floor(input.length / 2);
    const whole = told(input);
    if (whole.others !== told(input.subarray(0, cut), input.subarray(cut)).others)
      throw new Error("cut differently, read differently");
    return whole.types;
  },
};

/** Lines at once: number by number they would take most of a run. */
const asText = (event: ControlEvent): string =>
  JSON.stringify(
    event.type === "reply"
      ? { ...event, lines: event.lines.map((line) => Buffer.from(line).toString("latin1")) }
      : event,
  );

const layouts: Target = {
  name: "panes and layouts of tmux",
  seeds: [
    "b25d,80x24,0,0,0",
    "8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1}",
    "$0 %0 @0 1 0 40 24 0 0 80 24 0 0 8205,80x24,0,0{40x24,0,0,0,39x24,41,0,1} :first: window",
  ],
  check: (input) => {
    const layout = parseLayout(decodeUtf8(input));
    const cells = layout === undefined ? [] : panesOf(layout);
    if (cells.some(({ cols, rows }) => !Number.isSafeInteger(cols * rows))) throw new Error("no size");
    const list = readPaneList([input], "$0");
    for (const { name } of list?.panes ?? []) if (!isPaneName(name) && name !== "") throw new Error(`name ${name}`);
    return `${cells.length} ${list?.panes.length}`;
  },
};

const listings: Target = {
  name: "listings of a bridge",
  seeds: [
    '{"sessions":[]}',
    '{"sessions":[{"incarnation":"i","state":"running","offset":3,"cmd":["cat"]}]}',
    '{"sessions":[{"incarnation":"i","state":"exited","offset":3,"exit":{"code":143,"signal":"SIGTERM"}}]}',
  ],
  check: (input) => {
    const listed = parseListings(decodeUtf8(input));
    if (listed === undefined) return "none";
    for (const one of listed) {
      const extra = Object.keys(one).filter((key) => !["incarnation", "state", "offset", "exit"].includes(key));
      if (extra.length > 0) throw new Error(`passed on ${extra}`);
    }
    if (JSON.stringify(parseListings(JSON.stringify({ sessions: listed }))) !== JSON.stringify(listed))
      throw new Error("not the same when read again");
    return listed.map(({ state, exit }) => `${state} ${exit?.signal === undefined}`).join();
  },
};

const archives: Target = {
  name: "stored logs",
  seeds: [new OutputLog({ cols: 80, rows: 24 }), loggedSome()].map((log) => Buffer.concat(encodeArchive(log))),
  check: (input) => {
    // Only this project writes them; still, a damaged one must not take its session with it for longer than it is read.
    try {
      const log = decodeArchive([input], 0, { cols: 80, rows: 24 });
      return log.endOffset > 0 ? "some" : "none";
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return "refused";
    }
  },
};

const characters: Target = {
  name: "UTF-8 cut anywhere",
  seeds: ["aé€😀", Uint8Array.of(0xc3), Uint8Array.of(0xf0, 0x9f), Uint8Array.of(0xff, 0xfe)],
  check: (input) => {
    const cut = Math.floor(input.length / 2);
    const first = splitUtf8(new Uint8Array(0), input.subarray(0, cut));
    const second = splitUtf8(first.tail, input.subarray(cut));
    const pieces = decodeUtf8(first.whole) + decodeUtf8(second.whole) + decodeUtf8(second.tail);
    if (pieces !== decodeUtf8(input)) throw new Error("pieces do not make the whole");
    return `${first.tail.length} ${second.tail.length}`;
  },
};

const filter: Target = {
  name: "terminal queries in output",
  seeds: ["a\x1b[cb", "\x1b[6n", "\x1b]11;?\x07", "\x1bP+q544e\x1b\\", "\x1b[?1049h\x1b[2J", "\x1b[?2004$p\x05"],
  check: (input) => {
    const whole = filtered([input]);
    const cut = Math.floor(input.length / 3);
    const pieces = filtered([input.subarray(0, cut), input.subarray(cut, 2 * cut), input.subarray(2 * cut)]);
    if (Buffer.compare(whole, pieces) !== 0) throw new Error("cut differently, filtered differently");
    // What is left asks nothing: filtering it again leaves it alone.
    if (Buffer.compare(filtered([whole]), whole) !== 0) throw new Error("something was left to filter");
    return whole.length === input.length ? "same" : "shorter";
  },
};

function filtered(pieces: readonly Uint8Array[]): Uint8Array {
  const queries = new QueryFilter(() => false);
  let offset = 0;
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    out.push(...queries.filter(piece, offset).map((part) => Uint8Array.from(part)));
    offset += piece.length;
  }
  out.push(Uint8Array.from(queries.flush()));
  return Buffer.concat(out);
}

function loggedSome(): OutputLog {
  const log = new OutputLog({ cols: 80, rows: 24 });
  for (const [i, text] of ["out", "err", "more"].entries()) log.append(Buffer.from(text), i === 1 ? 2 : 1);
  log.markSize(100, 30);
  return log;
}

export const TARGETS: readonly Target[] = [
  textTarget("what a client says", FROM_CLIENT, parseClientMessage),
  textTarget("what a server says", FROM_SERVER, parseServerMessage),
  textTarget("what a Durable Object says", INNER_COMMANDS, parseInnerCommand),
  textTarget("what a bridge says", INNER_MESSAGES, parseInnerMessage),
  ...TYPING.map(dialectTarget),
  frames,
  stdinFrames,
  queries,
  listings,
  controlMode,
  layouts,
  archives,
  characters,
  filter,
];
