// A13b: the end of output that is not the end of the session, on both hops.
import { expect, test } from "vitest";
import { InnerRig, join, output, rig } from "../support/fixtures.ts";

test("A13b: the end of output is told behind the last byte, once on each connection, and the exit after it", () => {
  const at = rig();
  const { peer } = join(at.session, "a");
  peer.isStuffed = true;
  output(at, "last");
  at.session.outputEnded();
  at.session.outputEnded();
  expect(peer.of("output_end")).toEqual([]);
  peer.isStuffed = false;
  at.session.appended();
  expect(peer.told.slice(-2)).toEqual([[1, "last"], { type: "output_end", offset: 4 }]);
  const again = join(at.session, "a", { isResume: true, offset: 4 });
  expect(again.peer.of("output_end")).toEqual([{ type: "output_end", offset: 4 }]);
  at.session.exited({ code: 0 });
  expect(again.peer.told.at(-1)).toEqual({ type: "exit", code: 0, offset: 4 });
  expect(again.peer.of("output_end")).toHaveLength(1);
});

test("A13b: it is told again over a new inner hop, where the one before was lost with it", () => {
  const hop = new InnerRig().connect().flush();
  const { peer } = join(hop.session, "a");
  hop.flush();
  output(hop.bridge, "last");
  hop.bridge.session.outputEnded();
  hop.connect().flush();
  expect([peer.output, peer.of("output_end")]).toEqual(["last", [{ type: "output_end", offset: 4 }]]);
  hop.connect().flush();
  expect(peer.of("output_end")).toHaveLength(1);
  // Input goes on.
  expect(hop.session.exit).toBeUndefined();
});
