// B8: an order about panes that was on its way when the inner hop broke is told as lost, and one that came is not.

import { expect, test } from "vitest";
import { joined } from "../support/fixtures.ts";

const ORDER = { type: "pane", action: "zoom", pane: "%1" } as const;

function attached() {
  const { hop, peer, client } = joined({ tty: true });
  const errors = () => peer.of("error").map(({ code }) => code);
  return { hop, client, errors, say: () => hop.session.command(client, ORDER) };
}

test("B8: an order that is lost with the inner hop is refused, once for each, and is not said again", () => {
  const { hop, errors, say } = attached();
  say();
  say();
  hop.connect().flush();
  expect(errors()).toEqual(["pane_refused", "pane_refused"]);
  hop.cut();
  expect(errors()).toHaveLength(2);
  say();
  expect(errors()).toHaveLength(3);
});

test("B8: an order that came is not told as lost, whatever is lost behind it", () => {
  const { hop, errors, say } = attached();
  hop.inner.ping();
  say();
  hop.flush();
  say();
  hop.cut();
  expect(errors()).toEqual(["pane_refused"]);
});
