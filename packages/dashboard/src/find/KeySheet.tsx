// The sheet of keys: every key that is the page's, not the process's.

import "./key-sheet.css";
import type { Texts } from "../texts/texts.ts";
import { useTexts } from "../texts/texts-context.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { keysOfCommand, type WorkspaceCommand } from "../workspace/layout-keys.ts";
import { ALL_COMMANDS, wordsOfCommand } from "./palette-commands.ts";

export type KeySheetProps = {
  readonly may: (command: WorkspaceCommand) => boolean;
  readonly onClose: () => void;
};

export function KeySheet({ may, onClose }: KeySheetProps) {
  const texts = useTexts();
  const words = texts.keySheet;
  return (
    <Dialog title={words.title} onClose={onClose} className="sbx-key-sheet">
      <dl>
        {ALL_COMMANDS.filter(may).map((command) => (
          <Row key={wordsOfCommand(command, texts)} command={command} texts={texts} />
        ))}
        {words.others.map(([keys, does]) => (
          <div key={keys}>
            <dt>{does}</dt>
            <dd>
              <kbd>{keys}</kbd>
            </dd>
          </div>
        ))}
      </dl>
      <p>{words.rest}</p>
      <div className="sbx-answers">
        <button type="button" className="sbx-button" onClick={onClose}>
          {words.close}
        </button>
      </div>
    </Dialog>
  );
}

function Row({ command, texts }: { readonly command: WorkspaceCommand; readonly texts: Texts }) {
  const keys = keysOfCommand(command);
  if (keys === undefined) return null;
  return (
    <div>
      <dt>{wordsOfCommand(command, texts)}</dt>
      <dd>
        {keys.split(", ").map((each) => (
          <kbd key={each}>{each}</kbd>
        ))}
      </dd>
    </div>
  );
}
