// The key that takes the keyboard from a program. It is ours only then, when no key would reach the process.

import { yieldsKeyboard } from "sandbox-stdio/core";
import type { ParticipantsModel } from "./participants-model.ts";

export const TAKE_KEY = "F2";

/** @returns Whether the key was handled, and must not be typed. */
export function takesKeyboard(event: KeyboardEvent, room: ParticipantsModel): boolean {
  const { people } = room.getState();
  const isBare = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
  if (event.key !== TAKE_KEY || !isBare || people === undefined || !yieldsKeyboard(people)) return false;
  if (!event.repeat) room.ask();
  return true;
}
