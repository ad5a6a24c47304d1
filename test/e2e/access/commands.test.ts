// Commands that may not be started: refused before anything runs, and on record.
import { expect, test } from "vitest";
import { auditOf } from "../support/clients/audit.ts";
import { refusedHttp, refusedSocket } from "../support/clients/client.ts";
import { foreignRefused } from "../support/clients/foreign-client.ts";
import { ptyPath, sharedPath } from "../support/generators/foreign-routes.ts";
import { api, fresh, person } from "../support/system/system.ts";

const sessions = async (who: Awaited<ReturnType<typeof person>>) =>
  ((await (await api(who, "/api/sandboxes/default/sessions")).json()) as { sessions: unknown[] }).sessions;

test("a command on the list is refused with 4403 or 403 and the reason; nothing is started, and the audit says who tried", async () => {
  const who = await person();
  const session = fresh("s");
  const reason = 'the command "/bin/blocked-by-test" is on the list of commands that may not be started';
  const { bye, code } = await refusedSocket(who, { session, cmd: "/bin/blocked-by-test" });
  expect([code, bye]).toEqual([4403, { type: "bye", code: 4403, reason, retry: "never" }]);
  const refusal = await refusedHttp(who, { session, cmd: "/bin/blocked-by-test" });
  expect([refusal.status, JSON.parse(refusal.body)]).toEqual([403, { error: "cmd_forbidden", message: reason }]);
  expect(await sessions(who)).toEqual([]);
  const records = await auditOf(who, session);
  expect(records.map(({ type, error, message, user }) => [type, error ?? "", message ?? "", user])).toContainEqual([
    "refused",
    "cmd_forbidden",
    reason,
    who.sub,
  ]);
});

test.each([["exec /bin/blocked-by-test", 'names "blocked-by-test", which may not be started']])(
  "a pty's command line is judged too: %s",
  async (cmd, reason) => {
    const [who, sandbox] = [await person(), fresh("box")];
    for (const path of [ptyPath(sandbox, { cmd }), sharedPath(sandbox, { cmd })]) {
      const { status, body } = await foreignRefused(who, path);
      const { error, message } = JSON.parse(body) as { error: string; message: string };
      expect([status, error, message]).toEqual([403, "cmd_forbidden", expect.stringContaining(reason)]);
    }
    const listed = await (await api(who, `/api/sandboxes/${sandbox}/sessions`)).json();
    expect(listed).toEqual({ sessions: [] });
  },
);

test("a token that may only attach starts nothing, as a driver or as a viewer", async () => {
  const who = await person({ scope: "sandbox:connect" });
  expect((await refusedSocket(who, { session: fresh("s"), cmd: "cat" })).code).toBe(4403);
  expect((await refusedSocket(who, { session: fresh("s"), cmd: "cat", role: "viewer" })).code).toBe(4404);
  expect(await sessions(who)).toEqual([]);
});
