// Names that people tell each other apart by: no two participants have the same one, nor ones that look alike. A false
// alarm costs a number behind a name, so this errs on that side. Pure.

import { clipUtf8, utf8Length } from "../text/utf8.ts";
import { MAX_NAME_BYTES } from "../wire/constants.ts";
import { latinLookOf } from "./look-alikes.ts";

/** Letters that look Latin at a glance, beyond Unicode's own list: each list letter by letter over the one below it. */
const CAPITALS = table(
  ["ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ", "abezhlkmnoptyxcj"],
  ["АВЕЅІЈКМНОРСТУХҮԌԚԜ", "abesljkmhopctyxygqw"],
  ["ՍՕԼՏ", "uols"],
  ["ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ", "abcdeghjklmprstvwz"],
);
const SMALL = table(
  ["αβγεζηικμνορστυχω", "abyeznlkuvopotuxw"],
  ["авгезіїјкмнорсѕтухьһӏүԁԍԛԝѵѡєҫ", "abre3lljkmhopcstyxbhlydgqwvwec"],
  ["օոսհցյզքւո", "onuhgjqpln"],
  ["ıɩɪɑɡʀꜱʏᴀʙᴄᴅᴇɢʜᴊᴋʟᴍɴᴏᴘᴛᴜᴠᴡᴢøđłħŧƒðþß", "lllagrsyabcdeghjklmnoptuvwzodlhtfdpb"],
  // Each digit like another letter: numbers are never alike.
  ["01234578|i9", "olzeastbllg"],
);
/** Two letters that look like one. */
const PAIRS: readonly (readonly [string, string])[] = [
  ["rn", "m"],
  ["vv", "w"],
];

function table(...lists: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  const pairs = lists.flatMap(([from, to]) => [...from].map((letter, i): [string, string] => [letter, to[i] ?? ""]));
  return new Map(pairs);
}

/** Without characters that an eye passes over: accents, spaces, punctuation. A name of nothing else stays. */
function plain(name: string): string {
  const letters = name.normalize("NFKD").replace(/[^\p{L}\p{N}|]/gu, "");
  return letters === "" ? name.normalize("NFKC") : letters;
}

function looks(name: string): string {
  const latin = [...name.normalize("NFKD")].map((letter) => latinLookOf(letter) ?? letter).join("");
  const capitals = [...plain(latin)].map((letter) => CAPITALS.get(letter) ?? letter.toLowerCase());
  const small = [...capitals.join("")].map((letter) => SMALL.get(letter) ?? letter).join("");
  return PAIRS.reduce((text, [pair, letter]) => text.replaceAll(pair, letter), small);
}

/** Whether one may be taken for the other. */
export function areAlike(a: string, b: string): boolean {
  return plain(a).toLowerCase() === plain(b).toLowerCase() || looks(a) === looks(b);
}

/** The name of a new client, with a number if another client has that name: `Bob (2)`. An empty name stays empty. */
export function distinctName(name: string, others: readonly string[]): string {
  if (name === "") return name;
  let distinct = name;
  for (let number = 2; others.some((other) => areAlike(distinct, other)); number += 1) {
    const suffix = ` (${number})`;
    distinct = clipUtf8(name, MAX_NAME_BYTES - utf8Length(suffix)).trimEnd() + suffix;
  }
  return distinct;
}
