// `replay` of files and of a server's recording, and `record --stored`: what is printed and kept, and what is refused.

import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratch } from "../fixture/cli.ts";
import { runHere } from "../fixture/here.ts";

const V3 = '{"version":3,"term":{"cols":80,"rows":24},"title":"x"}\n';
const CAST = `${V3}[0.1,"o","one\\r\\n"]\n# comment\n[5,"r","90x30"]\n[0,"o","\\u001b[1mé\\u001b[0m\\r\\n"]\n[0,"x","3"]\n`;
const PRINTED = "one\r\n\x1b[1mé\x1b[0m\r\n";

function file(content: string | Uint8Array, name = "a.cast"): string {
  const path = join(scratch(), name);
  writeFileSync(path, content);
  return path;
}

describe("a file", () => {
  test("is printed as it was, at any speed; pauses are as long as the speed and the limit say", async () => {
    expect(await runHere(["replay", file(CAST), "--speed", "max"])).toMatchObject({
      code: 0,
      stdout: PRINTED,
      stderr: "",
    });
    const startMs = performance.now();
    expect(await runHere(["replay", file(CAST), "--idle-limit", "1", "--speed", "2"])).toMatchObject({
      stdout: PRINTED,
    });
    expect(performance.now() - startMs).toBeGreaterThan(550);
    expect(await runHere(["replay", "-", "--speed", "max"], CAST)).toMatchObject({ code: 0, stdout: PRINTED });
  });

  test("of asciicast v2 is printed too", async () => {
    const cast = '{"version":2,"width":80,"height":24}\n[0.1,"o","a"]\n[0.2,"i","typed"]\n[0.3,"o","b"]\n';
    expect(await runHere(["replay", file(cast), "--speed", "1000"])).toMatchObject({
      code: 0,
      stdout: "ab",
      stderr: "",
    });
  });

  test.each([
    ["no recording", "hello\n", "line 1 is not JSON"],
    [
      "version 1",
      '{"version":1}\n',
      "it is asciicast version 1; 2 and 3 can be read: convert it with `asciinema convert`",
    ],
    ["compressed", Uint8Array.of(0x1f, 0x8b, 8), "it is compressed: unpack it first"],
    [
      "of a size that can't be",
      '{"version":2,"width":9999999,"height":1}\n',
      "line 1 has a size that can't be: 9999999 by 1, not from 1x1 to 1000x500",
    ],
    ["that waits for ever", `${V3}[1e12,"o","x"]\n`, "line 2 waits longer than 366 days"],
  ])("%s is refused with the reason", async (_name, content, reason) => {
    const path = file(content);
    const { code, stdout, stderr } = await runHere(["replay", path]);
    expect([code, stdout, stderr]).toEqual([255, "", `sbx-stdio: cannot play ${path}: ${reason}\n`]);
  });

  test("that is cut short is played up to there, and said to be", async () => {
    const path = file(`${V3}[0,"o","shown"]\n[0,"o","los`);
    expect(await runHere(["replay", path])).toMatchObject({
      code: 255,
      stdout: "shown",
      stderr: `sbx-stdio: cannot play ${path}: line 3 is cut short: the recording ends within an event\n`,
    });
  });

  test("that is not there, and options that are about a session's recording", async () => {
    expect(await runHere(["replay", "./no.cast"])).toMatchObject({
      code: 255,
      stderr: expect.stringMatching(/cannot read \.\/no\.cast: ENOENT/),
    });
    expect(await runHere(["replay", "./no.cast", "--from", "5"])).toMatchObject({ code: 2 });
  });
});

/** A server with a recording; it keeps what it was asked. */
async function server(status: number, body: string) {
  const asked: string[] = [];
  const http = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(status, { "content-type": "application/x-asciicast" }).end(body);
  });
  await once(http.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked };
}

describe("a session's recording", () => {
  test("is played from a place, and saved with its options, byte for byte", async () => {
    const { url, asked } = await server(200, CAST);
    const words = [url, "--sandbox", "dev", "--session", "web"];
    expect(await runHere(["replay", ...words, "--speed", "max", "--from", "77"])).toMatchObject({ stdout: PRINTED });
    const path = join(scratch(), "web.cast");
    const more = ["--stored", "-o", path, "--follow", "--idle-limit", "2"];
    expect(await runHere(["record", ...words, ...more])).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(readFileSync(path, "utf8")).toBe(CAST);
    expect((await runHere(["record", ...words, "--stored"])).stdout).toBe(CAST);
    const base = "/api/sandboxes/dev/sessions/web/recording?";
    expect(asked).toEqual([`${base}from=77`, `${base}follow=1&idleLimit=2`, base]);
  });

  test("that is none is told in the server's words, and no file is left", async () => {
    const { url } = await server(404, '{"error":"not_recorded","message":"the session was never recorded"}');
    const path = join(scratch(), "web.cast");
    const words = ["record", url, "--session", "web", "--stored", "-o", path];
    expect(await runHere(words)).toMatchObject({
      code: 255,
      stderr: expect.stringMatching(/the session was never recorded/),
    });
    expect(existsSync(path)).toBe(false);
  });

  test("a file that is there already is not replaced", async () => {
    const { url } = await server(200, CAST);
    const path = file("mine", "web.cast");
    const words = ["record", url, "--session", "web", "--stored", "-o", path];
    expect(await runHere(words)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/web\.cast is there already; give another name/),
    });
    expect(readFileSync(path, "utf8")).toBe("mine");
  });
});
