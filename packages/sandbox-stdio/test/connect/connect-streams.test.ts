// The web streams of connect(): what counts as dealt with, what holds a writer, and how both end.
import { describe, expect, test } from "vitest";
import { InputStream } from "../../src/connect/connection.ts";
import { OutputStreams } from "../../src/connect/output-streams.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (chunk: Uint8Array | undefined) => new TextDecoder().decode(chunk);
/** Whatever was begun has come as far as it can. */
const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

function output() {
  const dealt: number[] = [];
  const streams = new OutputStreams((end) => dealt.push(end));
  return { streams, dealt, stdout: streams.stdout.readable.getReader(), stderr: streams.stderr.readable.getReader() };
}

describe("output", () => {
  test("W7: nothing counts as dealt with before a reader has taken it", async () => {
    const { streams, dealt, stdout } = output();
    streams.deliver(streams.stdout, bytes("abc"), 3);
    streams.deliver(streams.stdout, bytes("de"), 5);
    await settled();
    expect(dealt).toEqual([]);
    expect(text((await stdout.read()).value)).toBe("abc");
    await settled();
    expect(dealt).toEqual([3]);
  });

  test("W7: bytes of one stream count once those before them on the other are taken too", async () => {
    const { streams, dealt, stdout, stderr } = output();
    streams.deliver(streams.stderr, bytes("err"), 3);
    streams.deliver(streams.stdout, bytes("out"), 6);
    expect(text((await stdout.read()).value)).toBe("out");
    expect(dealt).toEqual([]);
    expect(text((await stderr.read()).value)).toBe("err");
    expect(dealt).toEqual([6]);
  });

  test("a stream that was cancelled holds nothing back, neither what came nor what comes", async () => {
    const { streams, dealt, stderr } = output();
    streams.deliver(streams.stderr, bytes("err"), 3);
    await stderr.cancel();
    streams.deliver(streams.stderr, bytes("more"), 7);
    expect(dealt).toEqual([3, 7]);
  });

  test("an end comes behind all that has not been read, an error as well", async () => {
    const { streams, stdout, stderr } = output();
    streams.deliver(streams.stdout, bytes("last"), 4);
    streams.end(new Error("refused"));
    expect(text((await stdout.read()).value)).toBe("last");
    await expect(stdout.read()).rejects.toThrow("refused");
    await expect(stderr.read()).rejects.toThrow("refused");
    const other = output();
    other.streams.deliver(other.streams.stdout, bytes("last"), 4);
    other.streams.end();
    expect(text((await other.stdout.read()).value)).toBe("last");
    expect((await other.stdout.read()).done).toBe(true);
  });

  test("R2: what was not read when the client stops is given to nobody: a later life is sent it again", async () => {
    const { streams, dealt, stdout } = output();
    streams.deliver(streams.stdout, bytes("again"), 5);
    streams.drop();
    streams.end(new Error("left"));
    await expect(stdout.read()).rejects.toThrow("left");
    expect(dealt).toEqual([]);
  });
});

describe("input", () => {
  function input(window: number) {
    const state = { kept: 0, hasEnded: false, written: [] as Uint8Array[] };
    const stream = new InputStream({
      write: (chunk) => {
        state.kept += chunk.length;
        state.written.push(chunk);
        return state.kept < window;
      },
      endInput: () => {
        state.hasEnded = true;
      },
      unacked: () => state.kept,
    });
    const ack = (count: number) => {
      state.kept -= count;
      if (state.kept < window) stream.drained();
    };
    return { stream, state, ack, writer: stream.writable.getWriter() };
  }

  async function isOver(promise: Promise<unknown>): Promise<boolean> {
    let over = false;
    promise.then(
      () => {
        over = true;
      },
      () => undefined,
    );
    await settled();
    return over;
  }

  test("L4: a write that fills the window is over when there is room again", async () => {
    const { ack, writer } = input(4);
    expect(await isOver(writer.write("abc"))).toBe(true);
    const full = writer.write("de");
    expect(await isOver(full)).toBe(false);
    ack(2);
    await full;
  });

  test("what was written is kept as it was, though the caller uses its Buffer again", async () => {
    const { state, writer } = input(100);
    const buffer = Buffer.from("first");
    await writer.write(buffer);
    buffer.fill("x");
    expect(state.written.map((piece) => Buffer.from(piece).toString())).toEqual(["first"]);
  });

  test("closing is the end of input, and over when all has been taken", async () => {
    const { state, ack, writer } = input(100);
    await writer.write("abc");
    const closing = writer.close();
    expect(await isOver(closing)).toBe(false);
    expect(state.hasEnded).toBe(true);
    ack(2);
    expect(await isOver(closing)).toBe(false);
    ack(1);
    await closing;
  });

  test("an aborted input is no input that ended", async () => {
    const { state, writer } = input(100);
    await writer.write("half");
    await writer.abort(new Error("the source broke"));
    expect(state.hasEnded).toBe(false);
  });

  test("X2: after the exit writes fail; an input that had been written to its end does not", async () => {
    const broken = input(4);
    const full = broken.writer.write("abcdef");
    await settled();
    broken.stream.exited();
    await expect(full).rejects.toMatchObject({ code: "stdin_closed" });
    await expect(broken.writer.write("more")).rejects.toMatchObject({ code: "stdin_closed" });
    const whole = input(100);
    await whole.writer.write("unread");
    const closing = whole.writer.close();
    await settled();
    whole.stream.exited();
    await closing;
  });
});
