// A person and a program at one keyboard: seen in the page and on the command line, taken with one key, and given back.
import { expect, test } from "vitest";
import { api, fresh, person } from "../e2e/support/system/system.ts";
import { findings } from "./support/axe.ts";
import { keyboardSays, setUpParty, tells, whoIsHere } from "./support/party.ts";

const { first, page, commandLine } = setUpParty();

/** The longest wait that a call may ask for. */
const LONG_MS = 3_600_000;

test("K2d, K9: a program is marked, says what it typed, and gives its keyboard up to one key", async () => {
  const sandbox = fresh("agent");
  const ann = await first(sandbox, "Ann", "&mode=exclusive");
  const agent = await person({ sub: fresh("agent"), org: "local", name: "Agent" });
  const ask = async (route: string, body: object) => {
    const path = `/api/sandboxes/${sandbox}/sessions/main/${route}`;
    const response = await api(agent, path, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  await ann.button("Release");
  await keyboardSays(ann, "The keyboard is free");
  expect((await ask("keyboard", { do: "request" })).body).toMatchObject({ mine: true });
  await tells(ann, "has the keyboard");
  expect((await ask("input", { text: "echo by the agent", enter: true })).status).toBe(200);
  await ann.shows("by the agent");
  expect((await whoIsHere(ann))[1]).toMatch(/\(program\), has the keyboard, typed echo by the agent⏎$/);
  expect(await ann.page.locator('.sbx-person[data-kind="program"] svg').count()).toBeGreaterThan(0);

  // A person in vain, and then with the one key.
  await ann.type("x");
  await ann.page.keyboard.press("F2");
  await keyboardSays(ann, "You have the keyboard");
  const refused = await ask("input", { text: "echo not this", enter: true });
  const holder = await ann.page.locator('.sbx-person[data-you="true"]').getAttribute("data-id");
  expect(refused).toMatchObject({ status: 409, body: { error: "not_stdin_holder", holder } });
  const back = ask("wait", { until: { keyboard: true }, timeoutMs: LONG_MS });
  await ann.run("echo by ann");
  await ann.shows("by ann");

  const cli = await commandLine(sandbox, "Cli");
  await ann.button("Release");
  expect((await back).body).toMatchObject({ outcome: "met" });
  expect((await ask("keyboard", { do: "request" })).body).toMatchObject({ mine: true });
  expect((await ask("input", { text: "echo again", enter: true })).status).toBe(200);
  await cli.shows(/^again$/);
  cli.type("y");
  await cli.shows(/^sbx-stdio: read only: .*\(program\) has the keyboard \(Ctrl\+\^ a takes it\)$/);
  cli.type("", "C-^", "w");
  await cli.shows(/\(program\) \(has the keyboard, typed echo again⏎\)/);
  cli.type("", "C-^", "a");
  await keyboardSays(ann, "Cli has the keyboard");
  expect((await ask("input", { text: "no" })).body).toMatchObject({ error: "not_stdin_holder" });
});

test("K12 to K14: a program asks, a person takes the keyboard by keys, types a secret, gives it back", async () => {
  const sandbox = fresh("agent");
  const ann = await first(sandbox, "Ann");
  const bob = await page(sandbox, "Bob");
  const agent = await person({ sub: fresh("agent"), org: "local", name: "Agent" });
  const ask = async (route: string, body: object) => {
    const path = `/api/sandboxes/${sandbox}/sessions/main/${route}`;
    const response = await api(agent, path, { method: "POST", body: JSON.stringify(body) });
    return (await response.json()) as Record<string, unknown>;
  };
  await ask("input", { text: "cat; read -rs P; echo length $(printf %s $P | wc -c)", enter: true });
  const reason = "The passphrase of the key";
  const asked = await ask("keyboard", { do: "ask", reason, secret: true });
  const answered = ask("wait", { until: { ask: asked.ask }, timeoutMs: LONG_MS });
  await tells(ann, `api asks for you: ${reason}`);
  const notice = ann.page.getByRole("region", { name: `api asks for you: ${reason}` });
  await notice.getByText("only its length will be recorded").waitFor();
  expect(await findings(ann)).toEqual([]);
  await notice.getByRole("button", { name: "Take the keyboard" }).press("Enter");
  await keyboardSays(ann, "You have the keyboard");
  // cat has its echo on, and that is said; the shell's own prompt for a secret has it off.
  await notice.getByRole("status").getByText("The terminal shows what you type, and that is kept.").waitFor();
  await bob.page.getByText("Ann has the keyboard for it").waitFor();
  await bob.waitForData("read-only", "true");
  await ann.page.getByRole("button", { name: /^Secret/, pressed: true }).waitFor();
  await ann.page.keyboard.press("Control+d");
  await expect.poll(() => notice.getByRole("status").textContent()).toBe("");
  await ann.page.keyboard.type("geheim\n");
  await ann.shows("length 6");
  await ann.page.keyboard.press("Control+Shift+P");
  await ann.page.getByRole("dialog").waitFor();
  await ann.page.keyboard.type("give the keyboard back");
  await ann.page.keyboard.press("Enter");
  expect(await answered).toMatchObject({ outcome: "met", answer: "done" });
  await notice.waitFor({ state: "detached" });
  await tells(ann, "api asks no more");
  await bob.waitForData("read-only", "false");
  const again = await ask("keyboard", { do: "ask", reason: "Continue? [y/N]" });
  await bob.page.getByRole("button", { name: "Decline" }).click();
  expect(await ask("wait", { until: { ask: again.ask } })).toMatchObject({ answer: "declined" });
});
