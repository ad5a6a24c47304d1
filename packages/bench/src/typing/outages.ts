// What happens to links and laptops, at real clients: how long after it is over, or after it happened, a pressed key is answered.

import { setTimeout as pause } from "node:timers/promises";
import { inTime } from "../base/in-time.ts";
import { show } from "../base/numbers.ts";
import { type IpLink, openIpLink } from "../subjects/ip-link.ts";
import { bringAll, type Client, startClients } from "./clients.ts";
import { sitDown } from "./record.ts";

const LINK = { delayMs: 20, bytesPerSecond: 1e7, loss: 0 };
/** Slower counts as never. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 500;
const [HOLE_MS, FORGET_MS, SLEEP_MS] = [3_000, 60_000, 60_000];
const ECHO = ["sh", "-c", "stty raw -echo; printf READY; exec cat"];

type Person = {
  press(key: string): void;
  sees(text: string): Promise<void>;
  sleep(isAsleep: boolean): void;
  leave(): void;
};
type Outage = { readonly name: string; happen(link: IpLink, people: readonly Person[]): Promise<void> };

const OUTAGES: readonly Outage[] = [
  {
    name: `nothing passes for ${HOLE_MS / 1000} s`,
    happen: async (link, people) => {
      link.happens({ isHole: true });
      for (const person of people) person.press("q");
      await pause(HOLE_MS);
      link.happens({ isHole: false });
    },
  },
  { name: "another address", happen: async (link) => link.happens({ isMoved: true }) },
  {
    name: `idle behind a router that forgets after ${FORGET_MS / 1000} s`,
    happen: async (link) => {
      link.happens({ forgetMs: FORGET_MS });
      await pause(FORGET_MS * 1.2);
    },
  },
  {
    name: `a laptop that sleeps for ${SLEEP_MS / 1000} s`,
    happen: async (link, people) => {
      link.happens({ isHole: true });
      for (const person of people) person.sleep(true);
      await pause(SLEEP_MS);
      for (const person of people) person.sleep(false);
      link.happens({ isHole: false });
    },
  },
];

export async function measureOutages(where: string): Promise<string> {
  const clients = await startClients("off");
  const rows: string[] = [];
  try {
    for (const outage of OUTAGES) {
      const link = await openIpLink(LINK);
      const release = await bringAll(clients);
      try {
        const seconds = await answered(clients, link, outage);
        rows.push(`| ${outage.name} | ${seconds.map(show).join(" | ")} |`);
        console.error(rows.at(-1));
      } finally {
        release();
        await link.close();
      }
    }
  } finally {
    for (const client of clients) await client.stop();
  }
  const head = ["until a key is answered, s", ...clients.map(({ name }) => name)];
  return [where, "", `| ${head.join(" | ")} |`, `|---|${"---:|".repeat(clients.length)}`, ...rows].join("\n");
}

async function answered(clients: readonly Client[], link: IpLink, { happen }: Outage): Promise<readonly number[]> {
  const people = clients.map(personAt);
  try {
    await inTime(Promise.all(people.map((person) => person.sees("READY"))), PATIENCE_MS);
    await happen(link, people);
    const from = performance.now();
    const times = people.map(async (person) => {
      const seen = person.sees("z");
      // One that is told that keys are discarded presses again.
      const pressing = setInterval(() => person.press("z"), AGAIN_MS);
      person.press("z");
      return inTime(seen, PATIENCE_MS)
        .then(
          () => (performance.now() - from) / 1000,
          () => Number.POSITIVE_INFINITY,
        )
        .finally(() => clearInterval(pressing));
    });
    return await Promise.all(times);
  } finally {
    for (const person of people) person.leave();
  }
}

/** Letters that no control sequence ends with are seen as they are, whatever draws them. */
function personAt(client: Client): Person {
  const front = client.front(ECHO);
  const child = sitDown(front);
  const group = -(child.pid ?? 0);
  let seen = "";
  let look = (): void => undefined;
  child.stdout.on("data", (bytes: Buffer) => {
    seen = (seen + String(bytes)).slice(-4096);
    look();
  });
  return {
    press: (key) => void child.stdin.write(key),
    sees: (text) =>
      new Promise((resolve) => {
        look = () => void (seen.includes(text) && resolve());
        look();
      }),
    sleep: (isAsleep) => void process.kill(group, isAsleep ? "SIGSTOP" : "SIGCONT"),
    leave: () => {
      process.kill(group, "SIGKILL");
      front.ended?.();
    },
  };
}
