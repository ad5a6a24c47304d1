// The sheet of keys: every key that is the page's, not the process's, and other keys for the page's commands.

import "./key-sheet.css";
import { type KeyboardEvent, useState } from "react";
import { keyNameOf, listOfKeys, type OwnKeys, refusalOfKey, useOwnKeys } from "../keys/own-keys.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import {
  ALL_COMMANDS,
  commandWithKey,
  idOfCommand,
  keysOfCommand,
  type WorkspaceCommand,
  withKeys,
} from "../workspace/layout-keys.ts";
import { KEY_GROUPS, wordsOfCommand } from "./palette-commands.ts";

export type KeySheetProps = {
  readonly may: (command: WorkspaceCommand) => boolean;
  readonly onKeys: (keys: OwnKeys) => void;
  readonly onClose: () => void;
};

export function KeySheet({ may, onKeys, onClose }: KeySheetProps) {
  const texts = useTexts();
  const words = texts.keySheet;
  const own = useOwnKeys();
  /** The command that waits for its new key. */
  const [changing, setChanging] = useState<WorkspaceCommand>();
  /** A key that another command has, pressed once. */
  const [pending, setPending] = useState<string>();
  const [said, setSaid] = useState("");
  const begin = (command?: WorkspaceCommand) => {
    setChanging(command);
    setPending(undefined);
    setSaid(command === undefined ? "" : words.pressing);
  };
  const give = (command: WorkspaceCommand, keys: string | undefined) => {
    onKeys(withKeys(own, command, keys));
    begin();
    setSaid(words.given(keys || words.none, wordsOfCommand(command, texts)));
  };
  const press = (event: KeyboardEvent, command: WorkspaceCommand) => {
    const key = keyNameOf(event.nativeEvent);
    if (key === undefined || key === "Tab" || key === "Shift+Tab") return;
    event.preventDefault();
    if (key === "Escape") return begin();
    if (key === "Backspace") return give(command, "");
    const refusal = refusalOfKey(key);
    const other = commandWithKey(key, own);
    if (refusal !== undefined) setSaid(words.refused[refusal](key));
    else if (other === undefined || other === command || pending === key) give(command, key);
    else {
      setPending(key);
      setSaid(words.taken(key, wordsOfCommand(other, texts)));
    }
  };
  return (
    <Dialog title={words.title} onClose={onClose} className="sbx-key-sheet">
      <p>{words.howTo}</p>
      <div className="sbx-key-groups">
        {KEY_GROUPS.map(([group, dos]) => {
          const commands = ALL_COMMANDS.filter((command) => dos.includes(command.do) && may(command));
          const others = group === "fixed" ? words.others : [];
          return commands.length + others.length === 0 ? null : (
            <section key={group}>
              <h3>{words.groups[group]}</h3>
              <dl>
                {commands.map((command) => {
                  const does = wordsOfCommand(command, texts);
                  const keys = keysOfCommand(command, own);
                  const isChanging = command === changing;
                  return (
                    <div key={does}>
                      <dt>{does}</dt>
                      <dd>
                        {own[idOfCommand(command)] === undefined ? null : (
                          <button
                            type="button"
                            className="sbx-quiet"
                            aria-label={words.reset(does)}
                            title={words.reset(does)}
                            onClick={() => give(command, undefined)}
                          >
                            {words.resetSign}
                          </button>
                        )}
                        <button
                          type="button"
                          className="sbx-quiet"
                          aria-label={
                            isChanging ? words.press : words.change(does, listOfKeys(keys).join(" ") || words.none)
                          }
                          aria-pressed={isChanging}
                          onClick={() => begin(isChanging ? undefined : command)}
                          onBlur={() => isChanging && begin()}
                          onKeyDown={(event) => isChanging && press(event, command)}
                        >
                          {isChanging ? words.press : <Keys keys={keys} />}
                        </button>
                      </dd>
                    </div>
                  );
                })}
                {others.map(([keys, does]) => (
                  <div key={keys}>
                    <dt>{does}</dt>
                    <dd>
                      <Keys keys={keys} />
                    </dd>
                  </div>
                ))}
              </dl>
            </section>
          );
        })}
      </div>
      <p>{words.rest}</p>
      <div className="sbx-answers">
        <p role="status">{said}</p>
        <button type="button" className="sbx-button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

function Keys({ keys }: { readonly keys: string }) {
  const { none } = useTexts().keySheet;
  // The spaces are for what reads its name out of it.
  return keys === "" ? none : listOfKeys(keys).flatMap((each) => [<kbd key={each}>{each}</kbd>, " "]);
}
