import { describe, expect, test } from "vitest";
import { Departures, GHOST_MS, PLAIN_STALL_MS } from "../../src/index.ts";

describe("W11: what waits in a socket", () => {
  test("and of which nothing ever left is never read: known after 10 s, and not before", () => {
    const departures = new Departures();
    expect(departures.look({ sent: 0, waiting: 0 }, 0)).toBe("moving");
    expect(departures.look({ sent: 14, waiting: 14 }, 5_000)).toBe("moving");
    expect(departures.look({ sent: 900, waiting: 900 }, 5_000 + GHOST_MS - 1)).toBe("moving");
    expect(departures.look({ sent: 900, waiting: 900 }, 5_000 + GHOST_MS)).toBe("never");
  });

  test("and of which some left once is stuck after 30 s, however little it is and whatever is added", () => {
    const departures = new Departures();
    departures.look({ sent: 14, waiting: 0 }, 0);
    expect(departures.look({ sent: 15, waiting: 1 }, 1_000)).toBe("moving");
    expect(departures.look({ sent: 500, waiting: 486 }, 1_000 + PLAIN_STALL_MS - 1)).toBe("moving");
    expect(departures.look({ sent: 600, waiting: 586 }, 1_000 + PLAIN_STALL_MS)).toBe("stuck");
  });

  test("moves where anything leaves, also where more comes than leaves, and where it was empty in between", () => {
    const departures = new Departures();
    for (let i = 1; i < 100; i += 1) {
      expect(departures.look({ sent: 1_000 * i, waiting: 999 * i }, i * (PLAIN_STALL_MS - 1))).toBe("moving");
    }
    departures.look({ sent: 200_000, waiting: 0 }, 100 * PLAIN_STALL_MS);
    expect(departures.look({ sent: 200_001, waiting: 1 }, 200 * PLAIN_STALL_MS)).toBe("moving");
  });
});
