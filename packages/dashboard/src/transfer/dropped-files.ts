// Reads dropped and pasted files and folders into a list.

import type { Offered } from "./upload-plan.ts";

export type OfferedFile = Offered & { readonly modifiedAtMs: number; readonly file: File | undefined };

/** Whether a drag contains files. */
export function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes("Files") ?? false;
}

/** Call during the event, after which the browser clears its list. @param most Stops after one file more. */
export function filesOf(transfer: DataTransfer, most: number): Promise<readonly OfferedFile[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (entries.length > 0) return walk(entries, most);
  return Promise.resolve(chosenFiles([...transfer.files]));
}

export function chosenFiles(files: readonly File[]): readonly OfferedFile[] {
  return files.map((file) => offered(file.name, file));
}

/** Images on the clipboard, if the browser allows reading it. The shortcut for pasting plain text does not report them. */
export async function clipboardPictures(clipboard: Clipboard | undefined): Promise<readonly File[]> {
  try {
    const items = (await clipboard?.read()) ?? [];
    const blobs = items.flatMap((item) => {
      const type = item.types.find((each) => each.startsWith("image/"));
      return type === undefined ? [] : [item.getType(type)];
    });
    const pictures = await Promise.all(blobs);
    return pictures.map((blob) => new File([blob], `picture.${/^image\/(\w+)/.exec(blob.type)?.[1] ?? "bin"}`));
  } catch {
    // Blocked by the person or the browser.
    return [];
  }
}

/** Ignores files dropped beside a terminal, which the browser would open in place of the page. */
export function refuseDrops(page: Window): void {
  const refuse = (event: DragEvent) => {
    if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = "none";
  };
  page.addEventListener("dragover", refuse);
  page.addEventListener("drop", refuse);
}

/** Names pasted images, which have no name. */
export function pastedFiles(files: readonly File[], now: Date): readonly OfferedFile[] {
  const stamp = now.toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return files.map((file, index) => {
    const extension = /\.[a-z\d]+$/i.exec(file.name)?.[0] ?? ".bin";
    return offered(`pasted-${stamp}${index === 0 ? "" : `-${index + 1}`}${extension}`, file);
  });
}

function offered(path: string, file: File): OfferedFile {
  return { path, size: file.size, isFolder: false, modifiedAtMs: file.lastModified, file };
}

async function walk(roots: readonly FileSystemEntry[], most: number): Promise<readonly OfferedFile[]> {
  const found: OfferedFile[] = [];
  const waiting = [...roots];
  for (let entry = waiting.shift(); entry !== undefined && found.length <= most; entry = waiting.shift()) {
    const path = entry.fullPath.replace(/^\/+/, "");
    if (isFile(entry)) found.push(offered(path, await fileOf(entry)));
    else if (isFolder(entry)) {
      found.push({ path, size: 0, isFolder: true, modifiedAtMs: 0, file: undefined });
      waiting.push(...(await childrenOf(entry)));
    }
  }
  return found;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

/** The browser returns batches of a hundred, and an empty one at the end. */
async function childrenOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return children;
    children.push(...part);
  }
}
