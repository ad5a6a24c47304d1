// The commands that the palette offers, in words, with their keys. Pure.

import type { Texts } from "../texts/texts.ts";
import type { Direction } from "../workspace/layout.ts";
import { type DeskCommand, keysOfCommand } from "../workspace/layout-keys.ts";
import type { PaletteEntry } from "./palette-model.ts";

const DIRECTIONS: readonly Direction[] = ["left", "right", "up", "down"];

/**
 * @param hasPanes Whether there is another pane.
 * @param startsIn In which sandboxes this person may have sessions of other names.
 */
export function paletteCommands(
  words: Texts["palette"],
  hasPanes: boolean,
  startsIn: readonly string[],
): PaletteEntry[] {
  const { command: texts, direction: beside, way } = words;
  const starting: [DeskCommand, string][] = [
    [{ do: "new" }, texts.new],
    [{ do: "divide", direction: "right" }, texts.divideRight],
    [{ do: "divide", direction: "down" }, texts.divideBelow],
    ...(startsIn.length > 1 ? startsIn : []).map((sandbox): [DeskCommand, string] => [
      { do: "new", sandbox },
      texts.newIn(sandbox),
    ]),
  ];
  const arranging: [DeskCommand, string][] = [
    [{ do: "close" }, texts.close],
    [{ do: "own-tab" }, texts.ownTab],
    [{ do: "show-tab", by: 1 }, texts.nextTab],
    [{ do: "show-tab", by: -1 }, texts.previousTab],
    [{ do: "move-tab", by: 1 }, texts.tabRight],
    [{ do: "move-tab", by: -1 }, texts.tabLeft],
    ...DIRECTIONS.map((direction): [DeskCommand, string] => [
      { do: "focus", direction },
      texts.focus(beside[direction]),
    ]),
    ...DIRECTIONS.map((direction): [DeskCommand, string] => [{ do: "move", direction }, texts.move(beside[direction])]),
    ...DIRECTIONS.map((direction): [DeskCommand, string] => [{ do: "grow", direction }, texts.grow(way[direction])]),
  ];
  return [...(startsIn.length > 0 ? starting : []), ...(hasPanes ? arranging : [])].map(([command, text]) => ({
    kind: "command",
    id: `>${text}`,
    command,
    words: text,
    keys: keysOfCommand(command),
  }));
}
