// Schemas of requests about recordings (G3 to G6), and of their answers. Their fields are those of sandbox-stdio's shapes.

import * as shapes from "sandbox-stdio/recording-shapes";
import * as z from "zod";
import { answerOf, bodyOf, queryOf } from "./zod-of.ts";

const one = (...values: readonly unknown[]) => values.filter((value) => value !== undefined).length === 1;

export const castQuery = queryOf(shapes.cast);
/** asciicast v3: lines of JSON, and no JSON as a whole. */
export const cast = z.string();

export const momentQuery = queryOf(shapes.moment).refine(
  ({ offset, time }) => one(offset, time),
  "needs exactly one of offset and time",
);
export const momentAnswer = answerOf(shapes.momentAnswer).loose();

export const searchQuery = queryOf(shapes.search).refine(
  ({ text, match }) => one(text, match),
  "needs exactly one of text and match",
);
export const searchAnswer = answerOf(shapes.searchAnswer);

export const recordingsQuery = queryOf(shapes.listing);
export const recordingsAnswer = answerOf(shapes.listAnswer);

export const removalQuery = queryOf(shapes.removal).refine(
  ({ incarnation, all }) => one(incarnation, all),
  "needs exactly one of incarnation and all=1",
);
export const holdRequest = bodyOf(shapes.hold);
export const releaseQuery = queryOf(shapes.release);
export const personQuery = queryOf(shapes.person);
