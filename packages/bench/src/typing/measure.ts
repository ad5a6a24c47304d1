// Ten hours of typing over links of the world: our command line with its predictions beside mosh and ssh, at the same time on the
// same link, and each person once more at a terminal without a link, which is the truth.

import { median, scaled, show } from "../base/numbers.ts";
import { openIpLink } from "../subjects/ip-link.ts";
import { bringAll, type Client, startClients } from "./clients.ts";
import { judge, newVerdict, type Verdict } from "./judge.ts";
import { record, shellFolder } from "./record.ts";
import { typed } from "./typist.ts";

const ROUND_TRIPS_MS = [40, 100, 200, 500];
const LOSSES = [0, 0.01, 0.05];
const BYTES_PER_SECOND = 1e7;
/** On each of the twelve links: ten hours. */
const PEOPLE = 20;
const SECONDS = 150;

type Row = { readonly link: string; readonly verdicts: ReadonlyMap<string, Verdict> };

/** @param share Of the people, at least two; with few of them, of the links and of the time. */
export async function measureTyping(share: number, where: string): Promise<string> {
  const people = scaled(PEOPLE, share, 2);
  const seconds = scaled(SECONDS, Math.min(1, share * 4), 40);
  const links = ROUND_TRIPS_MS.flatMap((roundTripMs) => LOSSES.map((loss) => ({ roundTripMs, loss })));
  const every = share < 0.1 ? 5 : 1;
  const clients = await startClients("on");
  const rows: Row[] = [];
  try {
    for (const [at, { roundTripMs, loss }] of links.entries()) {
      if (at % every !== 1 % every) continue;
      const link = await openIpLink({ delayMs: roundTripMs / 2, bytesPerSecond: BYTES_PER_SECOND, loss });
      const release = await bringAll(clients);
      try {
        const seeds = Array.from({ length: people }, (_, person) => at * PEOPLE + person);
        const row = { link: `${roundTripMs} ms, ${loss * 100} %`, verdicts: await onLink(clients, seeds, seconds) };
        rows.push(row);
        console.error(said(row));
      } finally {
        release();
        await link.close();
      }
    }
  } finally {
    for (const client of clients) await client.stop();
  }
  return typingTable(rows, `${where}, ${show((rows.length * people * seconds) / 3600)} hours with each client.`);
}

async function onLink(clients: readonly Client[], seeds: readonly number[], seconds: number) {
  const verdicts = new Map(clients.map(({ name }) => [name, newVerdict()]));
  const recordings = seeds.map(async (seed) => {
    const steps = typed(seed, seconds);
    const folders = [undefined, ...clients].map(() => shellFolder());
    const fronts = folders.map(({ command }, at) => clients[at - 1]?.front(command) ?? { words: command });
    const recorded = await Promise.allSettled(fronts.map((front) => record(front, steps)));
    for (const folder of folders) folder.remove();
    return { steps, recorded };
  });
  for (const { steps, recorded } of await Promise.all(recordings)) {
    const [truth, ...seen] = recorded;
    if (truth?.status !== "fulfilled") throw new Error(`no terminal without a link: ${truth?.reason}`);
    for (const [at, { name }] of clients.entries()) {
      const [one, verdict] = [seen[at], verdicts.get(name)];
      if (one?.status === "fulfilled" && verdict) await judge(steps, one.value, truth.value, verdict);
      else if (one?.status === "rejected") console.error(`${name} is left out once: ${one.reason}`);
    }
  }
  return verdicts;
}

function said({ link, verdicts }: Row): string {
  const of = ([name, { programs, keys, differing, wrong }]: [string, Verdict]) =>
    `${link} ${name}: ${[...programs].map(([program, [all, shown]]) => `${program} ${show((100 * shown) / all)} %`).join(", ")}; ${keys} keys, ${wrong} wrong, ${differing} other screens in the end`;
  return [...verdicts].map(of).join("\n");
}

/** Clients that showed less than 1 % of the keys at once, as ssh, have no column: a sentence names them. */
function typingTable(rows: readonly Row[], where: string): string {
  const verdictsOf = (name: string) => rows.map(({ verdicts }) => verdicts.get(name) ?? newVerdict());
  const sumOf = (name: string, of: (verdict: Verdict) => number) =>
    verdictsOf(name).reduce((sum, one) => sum + of(one), 0);
  const all = [...(rows[0]?.verdicts.keys() ?? [])];
  const names = all.filter((name) => sumOf(name, ({ shown }) => 100 * shown) >= sumOf(name, ({ keys }) => keys));
  const cells = ({ keys, shown, wrong, mendMs }: Verdict) =>
    [(100 * shown) / keys, (100 * wrong) / keys, median(mendMs)].map(show);
  const secrets = names.map((name) => `${name} ${sumOf(name, (one) => one.secretsShown)}`);
  const none = all.filter((name) => !names.includes(name)).map((name) => ` ${name}: under 1 % at once.`);
  return [
    `${where} Letters of passwords shown: ${secrets.join(", ")}.${none.join("")}`,
    "",
    `| round trip, loss | ${names.map((name) => `${name}: at once, % | wrong, % | mended, ms`).join(" | ")} |`,
    `|---|${"---:|".repeat(3 * names.length)}`,
    ...rows.map(({ link, verdicts }) => {
      const columns = names.flatMap((name) => cells(verdicts.get(name) ?? newVerdict()));
      return `| ${[link, ...columns].join(" | ")} |`;
    }),
  ].join("\n");
}
