// The dialogs of the page, each loaded when it is first opened, or while the page is idle.

import { useSyncExternalStore } from "react";
import type { Participants } from "sandbox-stdio/core";
import type { SessionTarget } from "../connection/session-target.ts";
import type { Preferences } from "../settings/preferences.ts";
import { lazily } from "../ui/lazily.ts";
import { allTargets, paneIdOf } from "../workspace/layout.ts";
import type { WorkspaceCommand } from "../workspace/layout-keys.ts";
import type { Page, PageState } from "./page.ts";
import type { SessionActions } from "./session-actions.ts";
import type { Run, ShownDialog } from "./use-commands.ts";

type ReadyState = Extract<PageState, { phase: "ready" }>;

export type PageDialogsProps = {
  readonly dialog: ShownDialog;
  readonly page: Page;
  readonly state: ReadyState;
  readonly titleOf: (target: SessionTarget) => string;
  readonly onCommand: Run;
  readonly may: Run["may"];
  readonly onOpen: SessionActions["show"];
  readonly people: () => Participants | undefined;
  /** Whether the session of the current pane is recorded. */
  readonly isRecorded: () => boolean;
  /** The ports of web servers in the current pane. */
  readonly ports: () => readonly number[];
  readonly onClose: () => void;
};

const Palette = lazily(async () => (await import("../find/Palette.tsx")).Palette);
const SettingsDialog = lazily(async () => (await import("../settings/SettingsDialog.tsx")).SettingsDialog);
const ShareDialog = lazily(async () => (await import("../sharing/ShareDialog.tsx")).ShareDialog);
const EndDialog = lazily(async () => (await import("../find/Palette.tsx")).EndDialog);
const KeySheet = lazily(async () => (await import("../find/KeySheet.tsx")).KeySheet);

/** Safari has no idle callback. */
const IDLE_MS = 2_000;

/** @returns Stops it. */
export function preloadDialogs(): () => void {
  const load = () => {
    // What can't be loaded now is tried again when it is opened.
    for (const part of [Palette, SettingsDialog, ShareDialog, EndDialog, KeySheet])
      part.preload().catch(() => undefined);
  };
  if (typeof requestIdleCallback !== "function") {
    const timer = setTimeout(load, IDLE_MS);
    return () => clearTimeout(timer);
  }
  const id = requestIdleCallback(load);
  return () => cancelIdleCallback(id);
}

/** Whether the setting that a command chooses is on already. */
function isOn(command: WorkspaceCommand, { scheme, theme, isReader }: Preferences): boolean {
  if (command.do === "theme") return command.name === theme?.name;
  return command.do === "scheme"
    ? theme === undefined && command.scheme === scheme
    : command.do === "reader" && isReader;
}

export function PageDialogs({
  dialog,
  page,
  state,
  titleOf,
  onCommand,
  may,
  onOpen,
  people,
  isRecorded,
  ports,
  onClose,
}: PageDialogsProps) {
  const { rights, workspace } = state;
  const { layout, sandboxes, names } = workspace.getState();
  const preferences = useSyncExternalStore(page.preferences.subscribe, page.preferences.get);
  const all = allTargets(layout);
  switch (dialog.kind) {
    case "settings":
      return (
        <SettingsDialog
          preferences={preferences}
          onChange={(change) => page.preferences.set(change)}
          onKeys={() => onCommand({ do: "keys" })}
          onClose={onClose}
        />
      );
    case "keys":
      return <KeySheet may={may} onKeys={(keys) => page.preferences.set({ keys })} onClose={onClose} />;
    case "share":
      return (
        <ShareDialog
          {...{ target: dialog.target, name: titleOf(dialog.target), onClose }}
          {...{ people: people(), isRecorded: isRecorded() }}
        />
      );
    case "end":
      return <EndDialog target={dialog.target} name={titleOf(dialog.target)} onClose={onClose} />;
    case "palette":
      return (
        <Palette
          sandboxes={[...new Set([...sandboxes, ...all.map(({ sandbox }) => sandbox)])]}
          open={new Set(all.map(paneIdOf))}
          names={names}
          titleOf={titleOf}
          onRename={(of, name) => void workspace.rename(of, name)}
          may={may}
          isOn={(command) => isOn(command, preferences)}
          mayEnd={rights.mayShare}
          ports={ports()}
          onOpen={onOpen}
          onCommand={onCommand}
          onClose={onClose}
        />
      );
  }
}
