// What a person is told to do about a refusal.

import { StdioError } from "sandbox-stdio/client";
import { CLOSE } from "sandbox-stdio/core";
import { expect, test } from "vitest";
import { unreachableMessage } from "../../src/account/credentials.ts";
import { plainReason, refusalMessage } from "../../src/base/server-errors.ts";
import { apiCall } from "../../src/programs/programs.ts";

const refused = (reason: string) =>
  refusalMessage({ kind: "refused", code: CLOSE.unauthenticated, reason }, "https://host", false, undefined);

test.each(["The token is from another issuer", "The token was made for another application"])(
  "%s: log in elsewhere, and how",
  (reason) => {
    expect(refused(reason)).toBe(
      `${reason} (log in with this server's issuer: \`sbx-stdio login --issuer URL --client-id ID\`)`,
    );
  },
);

test("a token that is only too old: log in again", () => {
  const advice = "log in again with `sbx-stdio login https://host`, or set a new SBX_TOKEN";
  expect(refused("The token has expired")).toBe(`The token has expired (${advice})`);
});

test("no login beside a ticket: which ones are sent there", () => {
  const end = { kind: "refused", code: CLOSE.unauthenticated, reason: "Log in, or give a token" } as const;
  expect(refusalMessage(end, "https://host", true, undefined)).toBe(
    "Log in, or give a token (log in with `sbx-stdio login https://host`, or use --token: either is sent with the ticket)",
  );
});

test("no answer from the issuer that nobody named: what to pass, and where to find it", () => {
  expect(unreachableMessage(undefined, "https://usual.example", "no such host")).toBe(
    "cannot reach the default issuer https://usual.example (no such host); choose your server's with --issuer URL --client-id ID (`npm start` prints both)",
  );
});

test("a directory that run can't enter: its words, without the code before them", async () => {
  const reason = "bad_cwd: Cannot enter /x: no such file or directory";
  const refusal = apiCall(() => Promise.reject(new StdioError("bad_cwd", reason, { status: 422 })));
  await expect(refusal).rejects.toMatchObject({ message: reason.slice("bad_cwd: ".length), exitCode: 255 });
});

test.each([
  ["cmd_not_found", "Cannot find nope", "nope: command not found", 127],
  ["cmd_not_found", "cmd_not_found: Cannot find nope", "nope: command not found", 127],
  ["cmd_not_executable", "Cannot execute /etc: is a directory", "/etc: is a directory", 126],
])("run says %s as a shell does, of the words %j", async (error, words, message, exitCode) => {
  const refusal = apiCall(() => Promise.reject(new StdioError(error, words, { status: 422 })));
  await expect(refusal).rejects.toMatchObject({ message, exitCode });
});

test("a token that can only look: in the command line's own words", () => {
  const reason = "to drive needs the scope sandbox:exec; role=viewer does not";
  const words = refusalMessage({ kind: "refused", code: CLOSE.forbidden, reason }, "https://host", false, undefined);
  expect(words).toBe("to drive needs the scope sandbox:exec, which this token lacks; use --role viewer to watch");
});

test("a line that was given as one word is told how a shell reads it", () => {
  expect(plainReason("cmd_not_found: Cannot find cd /tmp && ls")).toBe(
    "cd /tmp && ls: command not found (run without a shell; for a command line use bash -c 'LINE', or run --command 'LINE')",
  );
  expect(plainReason("cmd_not_found: Cannot find foo")).toBe("foo: command not found");
});
