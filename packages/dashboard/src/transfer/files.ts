// Uploads and downloads of one terminal, each over a session beside the terminal's own, and whether its files panel is shown. No React.

import type { Terminal } from "@xterm/xterm";
import type { BrowserConnection } from "../connection/browser-connection.ts";
import { fileSession } from "../connection/pipes-address.ts";
import { Store } from "../ui/store.ts";
import { sendAddress } from "./download-plan.ts";
import { Downloads, saveFile } from "./downloads.ts";
import { receiveAddress } from "./upload-plan.ts";
import { Uploads } from "./uploads.ts";

export class Files extends Store<{ readonly isShown: boolean }> {
  readonly uploads: Uploads;
  readonly downloads: Downloads;

  /**
   * @param stage The element around the terminal. Create before other listeners for its pastes.
   * @param url The address of the terminal's session.
   */
  constructor(
    terminal: Terminal,
    stage: HTMLElement,
    { connection, url, isReplay }: { connection: BrowserConnection; url: string; isReplay: () => boolean },
  ) {
    super({ isShown: false });
    this.uploads = new Uploads(terminal, stage, {
      mayUpload: () => connection.mayType,
      connect: (directory) => {
        const address = receiveAddress(url, location.href, directory);
        return connection.beside(address, fileSession("upload"));
      },
    });
    this.downloads = new Downloads(terminal, {
      isReplay,
      mayType: () => connection.mayType,
      connect: (path) => {
        const address = sendAddress(url, location.href, path, this.uploads.directory);
        return connection.beside(address, fileSession("download"));
      },
      save: saveFile,
    });
  }

  togglePanel(): void {
    this.change({ isShown: !this.state.isShown });
  }

  dispose(): void {
    this.forgetListeners();
    this.uploads.dispose();
    this.downloads.dispose();
  }
}
