// *screen* and *commands*: what a terminal shows, and what its shell has run, while it runs and afterwards.

import { sessionSchemas } from "@sbx/api";
import { expect, test } from "vitest";
import { connect } from "../support/clients/client.ts";
import { api, fresh, type Person, person } from "../support/system/system.ts";
import { until } from "../support/system/wait.ts";

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

async function get(who: Person, session: string, path: string): Promise<Answer> {
  const response = await api(who, `/api/sandboxes/default/sessions/${session}/${path}`);
  return { status: response.status, body: (await response.json()) as Answer["body"] };
}

async function terminal(script: string, params: object = {}) {
  const alice = await person();
  const name = fresh("s");
  const client = await connect(alice, {
    session: name,
    cmd: "bash",
    arg: ["-c", script],
    tty: 1,
    cols: 40,
    rows: 5,
    ...params,
  });
  await client.hello();
  return { alice, name, client };
}

test("S1: the screen as text, with cursor, title, modes and scrollback, as it stands at its offset", async () => {
  const script = "seq 1 8; printf '\\e]0;Titel\\a\\e[?2004h\\e[?1h\\e[31;1mrot\\e[m é$ '; exec cat";
  const { alice, name, client } = await terminal(script);
  await client.output("é$ ");
  const { status, body } = await get(alice, name, "screen?scrollback=3");
  expect(status).toBe(200);
  expect(body).toEqual({
    offset: client.bytes().length,
    cols: 40,
    rows: 5,
    cursor: { x: 7, y: 4, visible: true },
    alternate: false,
    title: "Titel",
    modes: { bracketedPaste: true, applicationCursor: true, mouse: false },
    lines: ["5", "6", "7", "8", "rot é$"],
    scrollback: ["2", "3", "4"],
  });
  expect(sessionSchemas.screenAnswer.safeParse(body).success).toBe(true);
  const styled = (await get(alice, name, "screen?format=json")).body;
  expect(styled.runs).toEqual([[], [], [], [], [{ x: 0, cols: 3, fg: 1, bold: true }]]);
  const drawn = (await get(alice, name, "screen?format=ansi")).body;
  expect(drawn.ansi).toContain("rot");
  expect(styled.scrollback).toBeUndefined();
});

test("S2: every terminal's exit keeps its screen, a short log's too", async () => {
  const { alice, name, client } = await terminal("printf 'last words'; printf '\\e[2;3Hhere'");
  await client.end();
  const { body } = await until("the kept screen", async () => {
    const answer = await get(alice, name, "screen?format=json");
    return answer.status === 200 && answer;
  });
  expect(body).toMatchObject({ lines: ["last words", "  here", "", "", ""], cursor: { x: 6, y: 1 } });
  // Who asks for rows above the screen is told that there are none.
  expect((await get(alice, name, "screen?scrollback=3")).body.scrollback).toEqual([]);
});

test("P3: the description has the title that the program gave its terminal, while it runs and afterwards", async () => {
  const { alice, name, client } = await terminal("printf '\\e]0;one\\a'; read go; printf '\\e]2;two\\e\\\\'; read go");
  const title = async () => {
    const response = await api(alice, `/api/sandboxes/default/sessions/${name}`);
    return ((await response.json()) as { title?: string; state: string }).title;
  };
  await until("the title", async () => (await title()) === "one");
  const unread = client.messages("hello").length;
  expect(unread).toBe(1);
  client.type("\r");
  await until("the next title", async () => (await title()) === "two");
  await client.leave();
  await until("nobody on it", async () => (await title()) === "two");
  const back = await connect(alice, { session: name });
  await back.hello();
  back.type("\r");
  await back.end();
  expect(await title()).toBe("two");
});
