// The texts of a recording's timeline.

const clock = new Intl.DateTimeFormat("en-GB", { dateStyle: "short", timeStyle: "medium" });

export const RECORDING_TEXTS = {
  /** The button in the status bar. */
  open: "Recording",
  openTitle: "Recorded: show the timeline",
  openRedactedTitle: "Recorded, parts hidden: show the timeline",
  label: "Recording",
  loading: "Loading…",
  failed: (reason: string) => `Recording: ${reason}`,
  play: ["▶", "Play"],
  pause: ["❚❚", "Pause"],
  position: "Moment",
  time: (ms: number) => clock.format(new Date(ms)),
  speed: "Speed",
  times: (factor: number) => `${factor}×`,
  skipsIdle: "Skip idle",
  previousCommand: ["⇤", "Previous command"],
  nextCommand: ["⇥", "Next command"],
  term: "Search the recording",
  previousMatch: ["↑", "Previous match"],
  nextMatch: ["↓", "Next match"],
  matches: (count: number, at: number) => (at > 0 ? `${at} of ${count}` : count === 1 ? "1 match" : `${count} matches`),
  searching: "Searching…",
  link: "Link to this moment",
  copied: "Link copied",
  notCopied: (link: string) => `Copy: ${link}`,
  download: "Download",
  live: "Back to live",
} as const;
