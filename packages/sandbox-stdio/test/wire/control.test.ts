// Control messages: the texts themselves, every shape, and that what is wrong is a fault and never an exception.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSize, PING_TEXT, PONG_TEXT, parseClientMessage, parseServerMessage, SIGNALS } from "../../src/index.ts";
import { parseInnerCommand, parseInnerMessage } from "../../src/wire/inner-messages.ts";

const FROM_CLIENT = [
  '{"type":"resize","cols":120,"rows":40}',
  '{"type":"signal","signal":"SIGINT"}',
  '{"type":"eof"}',
  '{"type":"eof","offset":17}',
  '{"type":"ack","offset":65536}',
  '{"type":"ping"}',
  '{"type":"auth","token":"eyJ"}',
  '{"type":"request_stdin"}',
  '{"type":"release_stdin"}',
  '{"type":"grant_stdin","to":"c2"}',
  '{"type":"force_take"}',
  '{"type":"kill"}',
];

const HELLO =
  '{"type":"hello","protocol":"stdio.v1","sandbox":"dev","session":"build","incarnation":"i","tty":true,"cols":120,' +
  '"rows":40,"offset":0,"live":0,"stdin":0,"resume":"proof","window":524288,"delivery":"live",' +
  '"you":{"id":"c1","name":"Ada","role":"driver"},"answerer":{"id":"c1","offset":0},"holder":"c1",' +
  '"mode":"collaborative","participants":[{"id":"c1","name":"Ada","role":"driver"}]}';

const FROM_SERVER = [
  HELLO,
  `${HELLO.slice(0, -1)},"gap":5}`,
  '{"type":"bye","code":4401,"reason":"token expired","retry":"never"}',
  '{"type":"bye","code":1013,"reason":"full","retry":"after","seconds":2.5}',
  '{"type":"status","status":"starting"}',
  '{"type":"gap","from":10,"to":20}',
  '{"type":"stdin_ack","offset":7}',
  '{"type":"exit","code":0,"offset":0}',
  '{"type":"exit","code":143,"signal":"SIGTERM","offset":9007199254740991}',
  '{"type":"resize","cols":1000,"rows":500,"offset":3}',
  '{"type":"join","participant":{"id":"c2","name":"","role":"viewer"}}',
  '{"type":"leave","id":"c2"}',
  '{"type":"stdin_holder","id":""}',
  '{"type":"stdin_request","id":"c2"}',
  '{"type":"answerer","id":"","offset":0}',
  '{"type":"expiring","seconds":60}',
  '{"type":"secret","on":true}',
  '{"type":"error","code":"not_stdin_holder","message":"not stdin holder"}',
  '{"type":"pong"}',
];

const INNER_COMMANDS = [
  '{"type":"attach","client":"c","slot":0,"name":"","role":"driver","admin":false,"delivery":"live","acknowledges":true,"acked":0,"window":65536}',
  '{"type":"attach","client":"c","slot":4294967295,"name":"n","role":"viewer","admin":true,"delivery":"lossless","acknowledges":false,"acked":9,"window":16384,"cols":80,"rows":24}',
  '{"type":"detach","client":"c","how":"left"}',
  '{"type":"detach","client":"c","how":"vanished"}',
  '{"type":"ack","client":"c","offset":1,"window":16384}',
  '{"type":"eof","client":"c","offset":1}',
  '{"type":"signal","client":"c","signal":"SIGKILL"}',
  '{"type":"resize","client":"c","cols":80,"rows":24}',
  '{"type":"kill","client":"c"}',
  '{"type":"stdin_holder","id":""}',
  '{"type":"ping"}',
];

const INNER_MESSAGES = [
  '{"type":"hello","protocol":"stdio.inner.v1","incarnation":"i","tty":false,"mode":"exclusive","delivery":"lossless","cols":80,"rows":24,"offset":0,"live":5,"holder":"","creator":"","cmd":["bash","-c",""],"createdAt":"2026-01-01T00:00:00.000Z","clients":[{"id":"c","role":"driver","stdin":1,"received":2,"eof":1,"acked":0,"isAbsent":true,"name":"n","delivery":"live","acknowledges":true},{"id":"d","role":"viewer","stdin":0,"acked":0,"isAbsent":false}],"gone":["e"]}',
  '{"type":"resize","cols":80,"rows":24,"offset":0}',
  '{"type":"gap","from":0,"to":1}',
  '{"type":"exit","code":255,"offset":1}',
  '{"type":"exit","code":137,"signal":"SIGKILL","offset":1}',
  '{"type":"stdin_ack","client":"c","offset":1}',
  '{"type":"error","client":"c","code":"stdin_closed","message":""}',
  '{"type":"bye","code":1001,"reason":""}',
  '{"type":"bye","code":1008,"reason":"","client":"c"}',
  '{"type":"pong"}',
];

type Parse = (text: string) => { ok: true; message: unknown } | { ok: false; fault: string; detail: string };

describe.each([
  ["C1: what a client says", parseClientMessage as Parse, FROM_CLIENT],
  ["C2: what a server says", parseServerMessage as Parse, FROM_SERVER],
  ["H5: what a Durable Object says to the bridge", parseInnerCommand as Parse, INNER_COMMANDS],
  ["H3: what the bridge says", parseInnerMessage as Parse, INNER_MESSAGES],
])("%s", (_name, parse, texts) => {
  for (const text of texts) {
    const value = JSON.parse(text) as Record<string, unknown>;
    test(`is read as it stands: ${text.slice(0, 70)}`, () => {
      expect(parse(text)).toEqual({ ok: true, message: value });
    });

    test(`C3: with a field that is not known it is the same message: ${text.slice(0, 40)}`, () => {
      expect(parse(JSON.stringify({ ...value, weather: { sun: true } })).ok).toBe(true);
    });

    test(`C3: with any field missing or wrong it is a fault that names it: ${text.slice(0, 40)}`, () => {
      for (const field of Object.keys(value)) {
        if (field === "type") continue;
        for (const wrong of [null, [], {}, true, -1, 1.5, "x".repeat(100_000), 2 ** 53]) {
          const isRight =
            typeof wrong === typeof value[field] && parse(JSON.stringify({ ...value, [field]: wrong })).ok;
          if (isRight) continue; // A flag, or a free number.
          const result = parse(JSON.stringify({ ...value, [field]: wrong }));
          expect(result.ok).toBe(false);
          if (!result.ok && result.fault === "wrong_shape") expect(result.detail).toContain(field);
        }
        const { [field]: _, ...rest } = value;
        const result = parse(JSON.stringify(rest));
        if (result.ok) continue; // It is optional.
        expect([result.fault, result.detail]).toEqual([
          "wrong_shape",
          `Cannot follow "${value.type}": "${field}" is missing`,
        ]);
      }
    });
  }

  test("C3: no text of any kind makes it throw", () => {
    const types = texts.map((text) => (JSON.parse(text) as { type: string }).type);
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.json(),
          fc
            .tuple(
              fc.constantFrom(...types, "__proto__", "constructor", "toString", ""),
              fc.dictionary(fc.string(), fc.jsonValue()),
            )
            .map(([type, rest]) => JSON.stringify({ ...rest, type })),
          fc
            .tuple(fc.constantFrom(...texts), fc.nat(200), fc.string({ maxLength: 5 }))
            .map(([text, at, insertion]) => text.slice(0, at) + insertion + text.slice(at)),
        ),
        (text) => {
          const result = parse(text);
          if (!result.ok) {
            expect(["too_large", "not_json", "wrong_shape", "unknown_type", "bad_size"]).toContain(result.fault);
          }
        },
      ),
      { seed: 5, numRuns: 1_500 },
    );
  });
});

describe("limits", () => {
  const padded = (length: number, unit = "x") => {
    const bare = '{"type":"ping","pad":""}';
    return bare.replace('""', `"${unit.repeat((length - bare.length) / new TextEncoder().encode(unit).length)}"`);
  };

  test("L1: 16 KiB from a client are read, one byte more is a fault, in bytes and not in characters", () => {
    expect(parseClientMessage(padded(16_384)).ok).toBe(true);
    expect(parseClientMessage(padded(16_385))).toMatchObject({ ok: false, fault: "too_large" });
    expect(parseClientMessage(padded(16_384, "é")).ok).toBe(true);
    expect(parseClientMessage(padded(16_386, "é"))).toMatchObject({ ok: false, fault: "too_large" });
  });

  test("L1: 64 KiB from a server are read, one byte more is a fault", () => {
    const pong = (length: number) => padded(length).replace("ping", "pong");
    expect(parseServerMessage(pong(65_536)).ok).toBe(true);
    expect(parseServerMessage(pong(65_537))).toMatchObject({ ok: false, fault: "too_large" });
  });

  test("L2: a size out of range is bad_size, and what is no number the wrong shape", () => {
    const resize = (cols: unknown, rows: unknown) => {
      const result = parseClientMessage(JSON.stringify({ type: "resize", cols, rows }));
      return result.ok ? "ok" : result.fault;
    };
    expect([resize(1, 1), resize(1000, 500)]).toEqual(["ok", "ok"]);
    expect([resize(0, 1), resize(1, 0), resize(1001, 1), resize(1, 501), resize(80.5, 24), resize(-1, -1)]).toEqual(
      Array(6).fill("bad_size"),
    );
    expect([resize("80", 24), resize(null, 24), resize(80, undefined)]).toEqual(Array(3).fill("wrong_shape"));
    expect([isSize(1, 1), isSize(1000, 500), isSize(0, 1), isSize(1, 501), isSize(Number.NaN, 1)]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test("C1: the signals are these and no others", () => {
    for (const signal of SIGNALS) expect(parseClientMessage(JSON.stringify({ type: "signal", signal })).ok).toBe(true);
    for (const signal of ["SIGSEGV", "sigint", "INT", "2", ""]) {
      expect(parseClientMessage(JSON.stringify({ type: "signal", signal }))).toMatchObject({ fault: "wrong_shape" });
    }
    expect(SIGNALS.length).toBe(16);
  });
});

describe("faults", () => {
  test("C3: each kind of wrong text has its name", () => {
    const faultOf = (text: string) => {
      const result = parseClientMessage(text);
      return result.ok ? "ok" : result.fault;
    };
    expect(["", "{", "ping", "undefined"].map(faultOf)).toEqual(Array(4).fill("not_json"));
    expect(["null", "[]", "1", '"ping"', "{}", '{"type":1}', '{"type":null}'].map(faultOf)).toEqual(
      Array(7).fill("wrong_shape"),
    );
    expect(['{"type":""}', '{"type":"hello"}', '{"type":"__proto__"}', '{"type":"toString"}'].map(faultOf)).toEqual(
      Array(4).fill("unknown_type"),
    );
  });

  test("C3: an unknown type is quoted, but not all of it", () => {
    const result = parseClientMessage(JSON.stringify({ type: "x".repeat(1_000) }));
    expect(result.ok ? "" : result.detail).toBe(`Cannot follow a message of unknown type "${"x".repeat(40)}…"`);
  });

  test("H9: messages of the inner hop are unknown on the outer one", () => {
    for (const type of ["attach", "detach", "stdin_holder"]) {
      expect(parseClientMessage(JSON.stringify({ type }))).toMatchObject({ fault: "unknown_type" });
    }
  });

  test("L1: arrays nested as deeply as a message can be are a fault, not a stack overflow", () => {
    expect(parseClientMessage("[".repeat(16_384))).toMatchObject({ fault: "not_json" });
    expect(parseInnerMessage("[".repeat(500_000) + "]".repeat(500_000))).toMatchObject({ ok: false });
  });
});

test("C4: ping and pong are exactly these texts, since a platform may answer them by itself", () => {
  expect([PING_TEXT, PONG_TEXT]).toEqual(['{"type":"ping"}', '{"type":"pong"}']);
  expect(JSON.stringify({ type: "ping" })).toBe(PING_TEXT);
});
