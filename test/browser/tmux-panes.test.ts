// A session that runs under tmux, on the page: its windows are tabs, its panes stand where tmux has them, from either side.
import { expect, test } from "vitest";
import { setUpBrowser } from "./support/fixture.ts";
import { agree, drawn, inPane, pane, paned, rowsOf, shows } from "./support/tmux-panes.ts";

const browser = setUpBrowser();

test("panes that others split, resize, zoom and close in tmux are drawn where tmux has them, each with its own shell", async () => {
  const { tab, tmux } = await paned(browser);
  await agree(tab, tmux);
  tmux.run("split-window", "-h", "-t", "%0", "sh");
  await agree(tab, tmux);
  tmux.run("split-window", "-v", "-t", "%1", "sh");
  await agree(tab, tmux);
  expect((await drawn(tab)).length).toBe(3);
  await inPane(tab, "%2", "echo in-$((40+2))");
  await shows(tab, "%2", /^in-42$/);
  expect((await rowsOf(tab, "%0")).join("\n")).not.toContain("in-42");
  tmux.run("resize-pane", "-t", "%0", "-x", "30");
  await agree(tab, tmux);
  tmux.run("select-pane", "-t", "%0");
  // tmux tells the program its size a moment later.
  await inPane(tab, "%0", "until stty size | grep ' 30$'; do sleep 0.1; done");
  await shows(tab, "%0", /^\d+ 30$/);
  tmux.run("resize-pane", "-Z", "-t", "%1");
  await agree(tab, tmux);
  expect((await drawn(tab)).length).toBe(1);
  tmux.run("kill-pane", "-t", "%1");
  await agree(tab, tmux);
  await pane(tab, "%1").waitFor({ state: "detached" });
  tmux.run("new-window", "sh");
  await agree(tab, tmux);
  await expect.poll(() => tab.page.getByRole("tab", { selected: true }).getAttribute("data-window")).toBe("@1");
  await inPane(tab, "%3", "echo at-$((40+3)); exit");
  await agree(tab, tmux);
  await inPane(tab, "%0", "echo back-$((40+4))");
  await shows(tab, "%0", /^back-44$/);
});
