// The list of sessions, from a server that gives it in pages.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { readEndpoint } from "../../src/base/endpoint.ts";
import { listSessions } from "../../src/programs/sessions.ts";

test("a list of several pages is asked for to its end", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const after = new URL(request.url ?? "", "http://server").searchParams.get("after");
    const page = after === null ? { sessions: [{ session: "b" }], next: "b" } : { sessions: [{ session: "a" }] };
    response.end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const listed = await listSessions(readEndpoint(`http://127.0.0.1:${port}`), "dev", "token");
    expect(listed).toEqual({ sessions: [{ session: "b" }, { session: "a" }] });
    expect(asked).toEqual(["/api/sandboxes/dev/sessions", "/api/sandboxes/dev/sessions?after=b"]);
  } finally {
    server.close();
  }
});
