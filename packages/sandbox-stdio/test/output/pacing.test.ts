// Who sets the pace, as a table.

import { describe, expect, test } from "vitest";
import { MAX_FRAME_BYTES } from "../../src/index.ts";
import { findFlowLeader, isWindowSpent, type Paced } from "../../src/output/pacing.ts";

function client(id: string, over: Partial<Paced> = {}): Paced {
  const usual = { role: "driver", delivery: "live", acknowledges: true, isPresent: true } as const;
  return { id, ...usual, acked: 0, windowBytes: 65_536, ...over };
}

const slow = client("slow lossless", { delivery: "lossless", acked: 100 });
const fast = client("fast lossless", { delivery: "lossless", acked: 900 });
const holder = client("holder", { acked: 50 });
const driver = client("driver", { acked: 500 });
const quick = client("quick driver", { acked: 800 });
const viewer = client("viewer", { role: "viewer", acked: 1_000 });
const watcher = client("quick viewer", { role: "viewer", acked: 2_000 });
const plain = client("plain", { acknowledges: false, acked: 5_000 });
const plainHolder = client("plain holder", { acknowledges: false, acked: 4_000 });
const plainViewer = client("plain viewer", { acknowledges: false, role: "viewer", acked: 9_000 });

describe("W8: the pace is set by", () => {
  for (const [who, among, holds] of [
    ["slow lossless", [fast, slow, holder, quick, viewer, plain], "holder"],
    ["holder", [driver, holder, quick, viewer, plain], "holder"],
    ["quick driver", [driver, holder, quick, viewer], ""],
    ["quick driver", [driver, quick, viewer], "somebody else"],
    ["plain", [plainViewer, plain, plainHolder], ""],
    ["plain holder", [plain, plainHolder, plainViewer], "plain holder"],
  ] as const) {
    test(`${who}, of ${among.map(({ id }) => id).join(", ")}`, () => {
      for (const order of [among, among.toReversed()]) {
        for (const delivery of ["live", "lossless"] as const) {
          expect(findFlowLeader(order, holds, delivery)?.id).toBe(who);
        }
      }
    });
  }

  for (const [delivery, who, among] of [
    ["lossless", "quick viewer", [viewer, watcher, plain, plainViewer]],
    ["lossless", "viewer", [viewer, plain]],
    ["lossless", "plain viewer", [plainViewer]],
    ["live", "plain", [viewer, watcher, plain, plainViewer]],
    ["live", undefined, [viewer, watcher, plainViewer]],
  ] as const) {
    test(`${who ?? "nobody"} in a ${delivery} session, of ${among.map(({ id }) => id).join(", ")}`, () => {
      for (const order of [among, among.toReversed()]) expect(findFlowLeader(order, "", delivery)?.id).toBe(who);
    });
  }

  test("nobody who is absent, and nobody where nobody is there", () => {
    const absent = client("absent", { delivery: "lossless", isPresent: false });
    expect(findFlowLeader([absent, driver], "absent", "live")?.id).toBe("driver");
    expect(findFlowLeader([], "", "lossless")).toBeUndefined();
  });

  test("the same one, whoever came first, where two stand at the same place", () => {
    for (const delivery of ["live", "lossless"] as const)
      expect(findFlowLeader([client("a", { delivery }), client("b", { delivery })], "", "live")?.id).toBe("a");
  });
});

test("W7: the process is held from the pacing client's window and one frame on, and not a byte earlier", () => {
  const flowLeader = client("flowLeader", { acked: 1_000, windowBytes: 20_000 });
  const limit = 1_000 + 20_000 + MAX_FRAME_BYTES;
  expect([isWindowSpent(flowLeader, limit - 1), isWindowSpent(flowLeader, limit)]).toEqual([false, true]);
});
