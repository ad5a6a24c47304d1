// A film of a terminal as one SVG, which a page shows as a picture: the screens lie below each other, and a window moves from one to the
// next. Pure.

/** What a terminal showed from a moment on. `isClosed`: the lid was. */
export type Screen = { readonly atMs: number; readonly lines: readonly string[]; readonly isClosed: boolean };

/** A run of characters in one look. */
type Run = { readonly text: string; readonly classes: string };

const CELL = { width: 8.4, height: 19 };
const MARGIN = 12;
/** Of the laptop below the screen. */
const BASE = 26;
/** The last screen stays as long. */
const REST_MS = 4_000;
/** The lid moves for as long. */
const LID_MS = 450;
const SEQUENCE = new RegExp(`${String.fromCharCode(27)}\\[([\\d;]*)m`);
const COLOURS = ["#4b5563", "#f87171", "#86efac", "#fde047", "#7dd3fc", "#f0abfc", "#67e8f9", "#e5e7eb"];

/** @param title What is told to people who can't see it. @param caption What stands on the laptop while its lid is closed. */
export function film(screens: readonly Screen[], size: { cols: number; rows: number }, title: string, caption: string) {
  const [first] = screens;
  const last = screens.at(-1);
  if (first === undefined || last === undefined) throw new Error("Cannot make a film of no screens");
  const totalMs = last.atMs - first.atMs + REST_MS;
  const percent = (atMs: number) => `${((100 * (atMs - first.atMs)) / totalMs).toFixed(2)}%`;
  const width = size.cols * CELL.width + 2 * MARGIN;
  const height = size.rows * CELL.height + 2 * MARGIN;
  const moves = screens.map(({ atMs }, i) => `${percent(atMs)}{transform:translateY(${-i * height}px)}`);
  const closedMs = screens.find(({ isClosed }) => isClosed)?.atMs ?? last.atMs;
  const openMs = screens.find(({ atMs, isClosed }) => atMs > closedMs && !isClosed)?.atMs ?? last.atMs;
  const lid = [
    `0%,${percent(closedMs)}{transform:none}`,
    `${percent(closedMs + LID_MS)},${percent(openMs - LID_MS)}{transform:scaleY(.02)}`,
    `${percent(openMs)},100%{transform:none}`,
  ];
  const words = [
    `0%,${percent(closedMs + LID_MS)}{opacity:0}`,
    `${percent(closedMs + 2 * LID_MS)},${percent(openMs - 2 * LID_MS)}{opacity:1}`,
    `${percent(openMs - LID_MS)},100%{opacity:0}`,
  ];
  const all = `${(totalMs / 1000).toFixed(2)}s infinite`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width + 60} ${height + BASE + 20}" role="img">
<title>${escaped(title)}</title>
<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d1d5db;white-space:pre}
.b{font-weight:bold}.d{opacity:.65}
${COLOURS.map((colour, i) => `.c${i}{fill:${colour}}`).join("")}
#film{animation:film ${all} step-end}
#lid{animation:lid ${all} ease-in-out;transform-origin:50% ${height + 10}px}
#words{animation:words ${all};opacity:0}
@keyframes film{${moves.join("")}}
@keyframes lid{${lid.join("")}}
@keyframes words{${words.join("")}}
@media (prefers-reduced-motion:reduce){#lid,#words{animation:none}#film{animation:none;transform:translateY(${-(screens.length - 1) * height}px)}}
</style>
<clipPath id="screen"><rect width="${width}" height="${height}"/></clipPath>
<g id="lid"><rect x="24" y="4" width="${width + 12}" height="${height + 8}" rx="10" fill="#374151"/>
<g transform="translate(30 10)" clip-path="url(#screen)"><rect width="${width}" height="${height}" fill="#111827"/><g id="film">
${screens.map(({ lines }, i) => screenOf(lines, i * height)).join("\n")}
</g></g></g>
<path d="M8 ${height + 12}h${width + 44}v6a14 14 0 0 1-14 14h-${width + 16}a14 14 0 0 1-14-14z" fill="#6b7280"/>
<text id="words" x="${(width + 60) / 2}" y="${height / 2}" text-anchor="middle" style="fill:#6b7280;font-size:18px">${escaped(caption)}</text>
</svg>
`;
}

function screenOf(lines: readonly string[], top: number): string {
  const texts = lines.map((line, row) => {
    const spans = runsOf(line).map(({ text, classes }) =>
      classes === "" ? escaped(text) : `<tspan class="${classes}">${escaped(text)}</tspan>`,
    );
    return line === ""
      ? ""
      : `<text x="${MARGIN}" y="${top + MARGIN + 14 + row * CELL.height}">${spans.join("")}</text>`;
  });
  return texts.filter((text) => text !== "").join("");
}

/** A line of a screen with its attributes as control sequences, cut where they change. */
function runsOf(line: string): Run[] {
  let classes = new Set<string>();
  return line.split(new RegExp(SEQUENCE, "g")).flatMap((part, i) => {
    // Every second part is the parameters of a sequence.
    if (i % 2 === 0) return part === "" ? [] : [{ text: part, classes: [...classes].join(" ") }];
    for (const code of part.split(";").map(Number)) classes = withAttribute(classes, code);
    return [];
  });
}

function withAttribute(classes: ReadonlySet<string>, code: number): Set<string> {
  if (code === 0) return new Set();
  const next = new Set(classes);
  if (code === 1) next.add("b");
  if (code === 2) next.add("d");
  if ((code >= 30 && code <= 39) || (code >= 90 && code <= 97)) {
    for (const one of classes) if (one.startsWith("c")) next.delete(one);
    if (code !== 39) next.add(`c${code % 10}`);
  }
  return next;
}

const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? sign);
