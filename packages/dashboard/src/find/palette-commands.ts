// Every command of the page with its texts and keys, for the palette, the menus and the sheet of keys. Pure.

import { listOfKeys, type OwnKeys } from "../keys/own-keys.ts";
import type { Texts } from "../texts/texts.ts";
import { ALL_COMMANDS, commandIsForOthers, keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import type { PaletteEntry } from "./palette-model.ts";

export function wordsOfCommand(command: WorkspaceCommand, { palette, keySheet, settings }: Texts): string {
  const { command: texts, direction: beside, way: towards } = palette;
  switch (command.do) {
    case "palette":
      return palette.title;
    case "settings":
      return settings.title;
    case "keys":
      return keySheet.title;
    case "new":
      return command.sandbox === undefined ? texts.new : texts.newIn(command.sandbox);
    case "divide":
      return command.direction === "right" ? texts.divideRight : texts.divideBelow;
    case "terminal":
      return texts.terminal[command.shortcut];
    case "scheme":
      return texts.scheme(settings.schemes[command.scheme]);
    case "show-tab":
      return command.by === 1 ? texts.nextTab : texts.previousTab;
    case "move-tab":
      return command.by === 1 ? texts.tabRight : texts.tabLeft;
    case "focus":
    case "move":
      return texts[command.do](beside[command.direction]);
    case "grow":
      return texts.grow(towards[command.direction]);
    case "ask":
      return texts.ask[command.act];
    case "own-tab":
      return texts.ownTab;
    default:
      return texts[command.do];
  }
}

/** @param hasPanes Whether there is another pane. @param startsIn The sandboxes in which this person may start sessions. */
export function paletteCommands(
  texts: Texts,
  hasPanes: boolean,
  startsIn: readonly string[],
  may: (command: WorkspaceCommand) => boolean,
  own: OwnKeys = {},
): PaletteEntry[] {
  const others = (startsIn.length > 1 ? startsIn : []).map((sandbox): WorkspaceCommand => ({ do: "new", sandbox }));
  return [...ALL_COMMANDS.slice(1), ...others]
    .filter((command) => may(command) && (hasPanes || !commandIsForOthers(command)))
    .map((command) => {
      const words = wordsOfCommand(command, texts);
      const keys = listOfKeys(keysOfCommand(command, own))[0];
      return { kind: "command", id: `>${words}`, command, words, also: texts.palette.also[command.do], keys };
    });
}
