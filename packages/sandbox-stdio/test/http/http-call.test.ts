// What the library makes of answers that are none of the server's interface.

import { expect, test } from "vitest";
import { sandbox } from "../../src/entry/client.ts";

/** What a call comes to with this answer, and how often it is made. */
async function answered(status: number, body: string) {
  let calls = 0;
  const answer: typeof fetch = async () => {
    calls += 1;
    return new Response(body, { status });
  };
  const box = sandbox("https://host.example", { retries: 1, fetch: answer });
  const code = await box
    .session("s")
    .describe()
    .then(
      () => "an answer",
      (error: { code: string }) => error.code,
    );
  return [code, calls];
}

test.each([
  [404, "<!doctype html>", "http_404", 1],
  [404, "", "http_404", 1],
  [302, "", "http_302", 1],
  [200, "<!doctype html>", "http_200", 1],
  // These may pass.
  [200, '{"session":"s', "unreachable", 2],
  [502, "<html>Bad gateway", "unreachable", 2],
  [502, "", "unreachable", 2],
])("HTTP %i with %j is %s, after %i calls", async (status, body, code, calls) => {
  expect(await answered(status, body)).toEqual([code, calls]);
});
