// Names by which people tell each other apart: no two participants have the same name or a similar one. A false alarm only adds
// a number to a name, so this errs on that side.

import { clipUtf8, utf8Length } from "../text/utf8-text.ts";
import { MAX_NAME_BYTES } from "../wire/constants.ts";
import { latinLookOf } from "./look-alikes.ts";

/** Letters that look Latin at a glance, beyond Unicode's list. Each string maps letter by letter to the next. */
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
  // Each digit maps to a different letter: numbers are never alike.
  ["01234578|i9", "olzeastbllg"],
);
/** Pairs of letters that look like one. */
const PAIRS: readonly (readonly [string, string])[] = [
  ["rn", "m"],
  ["vv", "w"],
];

function table(...lists: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  const pairs = lists.flatMap(([from, to]) => [...from].map((letter, i): [string, string] => [letter, to[i] ?? ""]));
  return new Map(pairs);
}

/** Removes characters that are easy to overlook: accents, spaces, punctuation. A name of nothing else is kept. */
function plain(name: string): string {
  const letters = name.normalize("NFKD").replace(/[^\p{L}\p{N}|]/gu, "");
  return letters === "" ? name.normalize("NFKC") : letters;
}

function skeleton(name: string): string {
  const latin = [...name.normalize("NFKD")].map((letter) => latinLookOf(letter) ?? letter).join("");
  const capitals = [...plain(latin)].map((letter) => CAPITALS.get(letter) ?? letter.toLowerCase());
  const small = [...capitals.join("")].map((letter) => SMALL.get(letter) ?? letter).join("");
  return PAIRS.reduce((text, [pair, letter]) => text.replaceAll(pair, letter), small);
}

/** Whether one name may be mistaken for the other. */
export function areAlike(a: string, b: string): boolean {
  return plain(a).toLowerCase() === plain(b).toLowerCase() || skeleton(a) === skeleton(b);
}

/** Adds a number to a new client's name if another one is alike: `Bob (2)`. An empty name stays empty. */
export function distinctName(name: string, others: readonly string[]): string {
  if (name === "") return name;
  let distinct = name;
  for (let number = 2; others.some((other) => areAlike(distinct, other)); number += 1) {
    const suffix = ` (${number})`;
    distinct = clipUtf8(name, MAX_NAME_BYTES - utf8Length(suffix)).trimEnd() + suffix;
  }
  return distinct;
}
