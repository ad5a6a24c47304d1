// The programs' interface by the library: typed calls over HTTP, errors, and what is repeated where an answer got lost.
import { StdioError, sandbox } from "sandbox-stdio/client";
import { expect, test } from "vitest";
import { fresh, mint, person, system } from "../support/system/system.ts";

const sh = (script: string) => ({ cmd: "sh", args: ["-c", script] });

async function programs(options: { fetch?: typeof fetch; retries?: number } = {}) {
  const { token } = await person();
  return sandbox(system.origin, { token, sandbox: fresh("box"), ...options });
}

async function failure(promise: Promise<unknown>): Promise<StdioError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StdioError);
  return error as StdioError;
}

/** Does what is asked, and loses every answer while `isLost` says so. */
function losing(isLost: (url: string) => boolean): { fetch: typeof fetch; lost: () => number } {
  let lost = 0;
  return {
    lost: () => lost,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (!isLost(String(input))) return response;
      lost += 1;
      await response.arrayBuffer();
      throw new TypeError("fetch failed");
    },
  };
}

test("W3, U4: where answers get lost, only calls that say how are repeated, and each is done once", async () => {
  let losses = 0;
  const link = losing((url) => /\/(input|run)$/.test(url) && losses-- > 0);
  const box = await programs({ fetch: link.fetch });
  const session = box.session("typed");
  await session.create(sh("cat"));
  losses = 2;
  expect(await session.write({ text: "once", at: 0 })).toMatchObject({ from: 0, to: 4, duplicate: true });
  losses = 1;
  expect(await failure(session.write({ text: "!" }))).toMatchObject({ code: "unreachable" });
  await session.write({ eof: true });
  await session.wait({ until: { exit: true } });
  expect((await session.read()).output).toBe("once!");
  losses = 2;
  const ran = await box.run({ ...sh("echo ran >> ran; cat ran"), session: "named" });
  expect(ran.output).toBe("ran\n");
  losses = 1;
  expect((await failure(box.run(sh("echo ran >> ran")))).code).toBe("unreachable");
  expect((await box.run({ cmd: "cat", args: ["ran"] })).output).toBe("ran\nran\n");
  expect(link.lost()).toBe(6);
});

test("R1: refusals have the server's code, its status and what it adds", async () => {
  const box = await programs();
  const session = box.session("s");
  await session.create(sh("cat"));
  expect(await failure(session.write({ text: "x", at: 7 }))).toMatchObject({
    code: "input_gap",
    status: 409,
    details: { expected: 0 },
  });
  expect(await failure(session.read({ from: 99 }))).toMatchObject({ code: "bad_offset", status: 400 });
  expect(await failure(box.session("other").read())).toMatchObject({ code: "not_found", status: 404 });
  const { sub } = await person();
  const expired = sandbox(system.origin, { token: () => mint({ sub, expires: -60 }) });
  expect(await failure(expired.list())).toMatchObject({ code: "expired", status: 401 });
  const nowhere = sandbox("http://127.0.0.1:1", { retries: 1 });
  expect(await failure(nowhere.list())).toMatchObject({ code: "unreachable", status: undefined });
  const given = AbortSignal.abort(new Error("given up"));
  await expect(session.wait({ until: { exit: true } }, { signal: given })).rejects.toThrow("given up");
});
