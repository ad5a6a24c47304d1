// The palette's commands with their texts and keys. Pure.

import type { Texts } from "../texts/texts.ts";
import type { Direction } from "../workspace/layout.ts";
import { keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import type { PaletteEntry } from "./palette-model.ts";

const DIRECTIONS: readonly Direction[] = ["left", "right", "up", "down"];

/** @param hasPanes Whether there is another pane. @param startsIn The sandboxes in which this person may start sessions. */
export function paletteCommands(
  words: Texts["palette"],
  hasPanes: boolean,
  startsIn: readonly string[],
): PaletteEntry[] {
  const { command: texts, direction: beside, way: towards } = words;
  const starting: [WorkspaceCommand, string][] = [
    [{ do: "new" }, texts.new],
    [{ do: "divide", direction: "right" }, texts.divideRight],
    [{ do: "divide", direction: "down" }, texts.divideBelow],
    [{ do: "upload" }, texts.upload],
    ...(startsIn.length > 1 ? startsIn : []).map((sandbox): [WorkspaceCommand, string] => [
      { do: "new", sandbox },
      texts.newIn(sandbox),
    ]),
  ];
  const arranging: [WorkspaceCommand, string][] = [
    [{ do: "close" }, texts.close],
    [{ do: "own-tab" }, texts.ownTab],
    [{ do: "show-tab", by: 1 }, texts.nextTab],
    [{ do: "show-tab", by: -1 }, texts.previousTab],
    [{ do: "move-tab", by: 1 }, texts.tabRight],
    [{ do: "move-tab", by: -1 }, texts.tabLeft],
    ...DIRECTIONS.map((direction): [WorkspaceCommand, string] => [
      { do: "focus", direction },
      texts.focus(beside[direction]),
    ]),
    ...DIRECTIONS.map((direction): [WorkspaceCommand, string] => [
      { do: "move", direction },
      texts.move(beside[direction]),
    ]),
    ...DIRECTIONS.map((direction): [WorkspaceCommand, string] => [
      { do: "grow", direction },
      texts.grow(towards[direction]),
    ]),
  ];
  return [...(startsIn.length > 0 ? starting : []), ...(hasPanes ? arranging : [])].map(([command, text]) => ({
    kind: "command",
    id: `>${text}`,
    command,
    words: text,
    keys: keysOfCommand(command),
  }));
}
