// Control messages: the texts themselves, every shape, and that what is wrong is a fault and never an exception.

import { describe, expect, test } from "vitest";
import { PING_TEXT, PONG_TEXT, SIGNALS } from "../../src/index.ts";
import { isSize, parseClientMessage, parseServerMessage } from "../../src/wire/control.ts";
import { parseInnerCommand, parseInnerMessage } from "../../src/wire/inner-messages.ts";
import { FROM_CLIENT, FROM_SERVER, INNER_COMMANDS, INNER_MESSAGES } from "../support/messages.ts";

type Parse = (text: string) => { ok: true; message: unknown } | { ok: false; fault: string; detail: string };

describe.each([
  ["C1: what a client says", parseClientMessage as Parse, FROM_CLIENT],
  ["C2: what a server says", parseServerMessage as Parse, FROM_SERVER],
  ["H5: what a Durable Object says to the bridge", parseInnerCommand as Parse, INNER_COMMANDS],
  ["H3: what the bridge says", parseInnerMessage as Parse, INNER_MESSAGES],
])("%s", (_name, parse, texts) => {
  test.each(texts)(
    "C3: is read as it stands and with an unknown field; any missing or wrong field is named: %.70s",
    (text) => {
      const value = JSON.parse(text) as Record<string, unknown>;
      expect(parse(text)).toEqual({ ok: true, message: value });
      expect(parse(JSON.stringify({ ...value, weather: { sun: true } })).ok).toBe(true);
      for (const field of Object.keys(value).filter((name) => name !== "type")) {
        for (const wrong of [null, [], {}, true, -1, 1.5, "x".repeat(100_000), 2 ** 53]) {
          const result = parse(JSON.stringify({ ...value, [field]: wrong }));
          if (result.ok && typeof wrong === typeof value[field]) continue; // A flag, or a free number.
          expect([field, wrong, result.ok]).toEqual([field, wrong, false]);
          if (!result.ok && result.fault === "wrong_shape") expect(result.detail).toContain(field);
        }
        const { [field]: _, ...rest } = value;
        const result = parse(JSON.stringify(rest));
        if (result.ok) continue; // It is optional.
        const detail = `Cannot follow "${value.type}": "${field}" is missing`;
        expect(result).toMatchObject({ fault: "wrong_shape", detail });
      }
    },
  );
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
