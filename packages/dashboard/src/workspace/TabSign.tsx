// The icon of a session on its tab: a terminal, or what needs a look.

import { Bell, CircleCheck, CircleX, Hand, SquareTerminal, Unplug } from "lucide-react";
import { useTexts } from "../texts/texts-context.ts";

/** `asks`: a program asks for a person. `gone`: the session is. The others happened while nobody looked. */
export type TabSign = "asks" | "gone" | "failed" | "bell" | "done";

/** The strongest first. */
const ORDER: readonly TabSign[] = ["asks", "gone", "failed", "bell", "done"];
const ICONS = { asks: Hand, gone: Unplug, failed: CircleX, bell: Bell, done: CircleCheck };

export function strongest(signs: readonly (TabSign | undefined)[]): TabSign | undefined {
  return ORDER.find((sign) => signs.includes(sign));
}

/** Whether the window's title counts it. */
export function isUrgent(sign: TabSign | undefined): boolean {
  return sign !== undefined && sign !== "done";
}

export function SignIcon({ sign }: { readonly sign: TabSign | undefined }) {
  const words = useTexts().desk.sign;
  if (sign === undefined) return <SquareTerminal size={14} aria-hidden />;
  const Icon = ICONS[sign];
  return <Icon className="sbx-sign" data-sign={sign} size={14} role="img" aria-label={words[sign]} />;
}
