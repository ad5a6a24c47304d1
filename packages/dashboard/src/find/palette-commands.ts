// Every command of the page with its texts and keys, for the palette, the menus and the sheet of keys. Pure.

import { isName } from "sandbox-stdio/core";
import { listOfKeys, type OwnKeys } from "../keys/own-keys.ts";
import { GALLERY } from "../settings/theme-gallery.ts";
import type { Texts } from "../texts/texts.ts";
import {
  ALL_COMMANDS,
  commandIsForOthers,
  idOfCommand,
  keysOfCommand,
  type WorkspaceCommand,
} from "../workspace/layout-keys.ts";
import type { PaletteEntry } from "./palette-model.ts";

/** The headings of the sheet of keys, and the commands under each. */
export const KEY_GROUPS: readonly (readonly [keyof Texts["keySheet"]["groups"], readonly WorkspaceCommand["do"][]])[] =
  [
    ["sessions", ["palette", "new", "rename", "share", "end", "reopen", "files", "upload", "notify"]],
    ["panes", ["divide", "maximize", "equalize", "close", "own-tab", "focus", "move", "grow"]],
    ["tabs", ["show-tab", "move-tab", "close-tab", "close-others"]],
    ["terminal", ["terminal", "paste", "select-all", "secret", "ask"]],
    ["page", ["settings", "keys", "scheme", "zoom", "reader", "log-out"]],
    ["fixed", []],
  ];

export function wordsOfCommand(
  command: WorkspaceCommand,
  { bar, desk, page, palette, keySheet, server, settings }: Texts,
): string {
  const { command: texts, direction: beside, way: towards } = palette;
  switch (command.do) {
    case "palette":
      return palette.title;
    case "settings":
      return settings.title;
    case "keys":
      return keySheet.title;
    case "new":
      if (command.session !== undefined) return texts.newNamed(command.session);
      return command.sandbox === undefined ? texts.new : texts.newIn(command.sandbox);
    case "divide":
      return command.direction === "right" ? texts.divideRight : texts.divideBelow;
    case "terminal":
      return texts.terminal[command.shortcut];
    case "scheme":
      return texts.scheme(settings.schemes[command.scheme]);
    case "theme":
      return settings.ownTheme(command.name);
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
    case "zoom":
      return command.by === 1 ? texts.larger : texts.smaller;
    case "port":
      return server.openPort(command.port);
    case "own-tab":
      return texts.ownTab;
    case "reader":
      return bar.readerTitle;
    case "log-out":
      return page.logOut;
    case "paste":
      return desk.terminalMenu.paste;
    case "select-all":
      return desk.terminalMenu.selectAll;
    case "secret":
      return bar.secret;
    default:
      return texts[command.do];
  }
}

/**
 * @param hasPanes Whether there is another pane. @param startsIn The sandboxes in which this person may start sessions.
 * @param ports Of the focused pane's web servers.
 */
export function paletteCommands(
  texts: Texts,
  hasPanes: boolean,
  startsIn: readonly string[],
  may: (command: WorkspaceCommand) => boolean,
  own: OwnKeys = {},
  ports: readonly number[] = [],
): PaletteEntry[] {
  const others = (startsIn.length > 1 ? startsIn : []).map((sandbox): WorkspaceCommand => ({ do: "new", sandbox }));
  const servers = ports.map((port): WorkspaceCommand => ({ do: "port", port }));
  const themes = GALLERY.map(({ name }): WorkspaceCommand => ({ do: "theme", name }));
  return [...servers, ...ALL_COMMANDS.slice(1), ...themes, ...others]
    .filter((command) => may(command) && (hasPanes || !commandIsForOthers(command)))
    .map((command) => entryOf(command, texts, own));
}

/** What is offered where nothing is found. @returns undefined if the query is no name: words of a command that can't be run now. */
export function newSessionEntry(query: string, texts: Texts): PaletteEntry | undefined {
  const session = query.trim();
  return isName(session) ? entryOf({ do: "new", session }, texts, {}) : undefined;
}

function entryOf(command: WorkspaceCommand, texts: Texts, own: OwnKeys): PaletteEntry {
  const words = wordsOfCommand(command, texts);
  const { also: all } = texts.palette;
  const also = all[idOfCommand(command)] ?? all[command.do] ?? "";
  return { kind: "command", id: `>${words}`, command, words, also, keys: listOfKeys(keysOfCommand(command, own))[0] };
}
