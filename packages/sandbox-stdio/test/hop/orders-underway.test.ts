// B8, K5g: what is on its way to a bridge that does not answer for long.
import { expect, test } from "vitest";
import { OrdersUnderway } from "../../src/hop/orders-underway.ts";
import { join, rig } from "../support/fixtures.ts";

test("however many orders follow, what waits for a ping hears of its own answer, and not before", () => {
  const { client } = join(rig({ tty: true }).session, "a");
  const orders = new OrdersUnderway(() => undefined);
  const heard: string[] = [];
  orders.ping();
  orders.confirm(() => heard.push("first"));
  for (let n = 0; n < 5_000; n += 1) orders.order(client, { type: "resize", pane: "%1", cols: 80, rows: 24 });
  orders.confirm(() => heard.push("last"));
  orders.pong();
  expect(heard).toEqual([]);
  orders.pong();
  expect(heard).toEqual(["first"]);
  for (let n = 0; n < 5_000; n += 1) orders.pong();
  expect(heard).toEqual(["first"]);
  orders.pong();
  expect(heard).toEqual(["first", "last"]);
});
