// Fields of requests about recordings (G3 to G6), and of their responses.

import { choice, integer, list, object, offset, optional, text, usually } from "../wire/fields.ts";
import { gap, screenAnswer } from "./shapes.ts";

const time = text({ format: "time" });
const zonedTime = text({ format: "zoned time" });
const incarnation = optional(text(), "the recorded process; absent: the newest recording");
const SECONDS = /^\d{1,5}(\.\d{1,3})?$/;

/** An offset or a time. */
const place = (about: string) => optional(text({ min: 1, max: 40 }), about);
/** 0 or 1, as in a query. */
const digit = (about: string) => optional(integer(0, 1), about);

export const cast = {
  incarnation,
  from: place("an offset or an ISO time: the first event is the screen there"),
  to: place("an offset or an ISO time"),
  idleLimit: optional(
    text({ pattern: SECONDS, form: "seconds, such as 2.5" }),
    "seconds: longer intervals are shortened",
  ),
  follow: digit("1: streams on while the process runs"),
};

/** Exactly one of `offset` and `time`. */
export const moment = {
  incarnation,
  offset: optional(offset),
  time: optional(zonedTime),
  format: usually(choice("text", "json"), "text"),
  scrollback: optional(integer(0, 1_000_000)),
};
export const momentAnswer = { ...screenAnswer, at: optional(time, "when the output before the offset arrived") };

/** Exactly one of `text` and `match`. */
export const search = {
  incarnation,
  text: optional(text({ min: 1, max: 4_096 })),
  match: optional(text()),
  flags: optional(text()),
  from: optional(offset),
  limit: usually(integer(1, 1_000), 100),
};
export const searchAnswer = {
  hits: list(object({ offset, time, line: text() })),
  next: optional(offset, "the search stopped before the recording's end: continue from here"),
  searchedTo: offset,
  gap: optional(gap, "the first part in this range that was not recorded or was removed"),
};

export const listing = { limit: usually(integer(1, 1_000), 100), after: optional(text()) };
export const listed = object({
  incarnation: text(),
  startedAt: time,
  endedAt: optional(time),
  bytes: offset,
  seconds: integer(0, Number.MAX_SAFE_INTEGER),
  gap: optional(gap, "the first part that was not recorded or was removed"),
  held: optional(object({ reason: text(), by: text(), at: time })),
});
export const listAnswer = { recordings: list(listed), next: optional(text()) };

/** Exactly one of `incarnation` and `all`. */
export const removal = { incarnation: optional(text()), all: digit("1: all recordings of the session") };
export const hold = { incarnation: optional(text()), reason: text({ min: 1, max: 200 }) };
export const release = { incarnation: optional(text()) };

/** Selects all recordings of sessions that a person started. */
export const person = { sub: text({ min: 1, max: 512 }) };
