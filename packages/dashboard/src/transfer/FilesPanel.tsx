// The files of the sandbox beside a terminal: a tree to open, download, upload into and type from. Arrows move in it as in any tree.

import "./files-panel.css";
import {
  ChevronRight,
  Copy,
  CornerLeftUp,
  Download,
  File,
  Folder,
  RefreshCw,
  SquareTerminal,
  Upload,
  X,
} from "lucide-react";
import {
  type CSSProperties,
  type DragEvent,
  type KeyboardEvent,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { isInDialog } from "../terminal/terminal-keys.ts";
import { size } from "../texts/counted.ts";
import { useTexts } from "../texts/texts-context.ts";
import { preview } from "../ui/clipboard.ts";
import { ContextMenu, type MenuEntry } from "../ui/Menu.tsx";
import { FileReader } from "./FileReader.tsx";
import { FileCalls } from "./file-calls.ts";
import { parentPath } from "./file-paths.ts";
import { FileTree, type Row, rowsOf } from "./file-tree.ts";
import type { Files } from "./files.ts";

type EntryRow = Extract<Row, { kind: "entry" }>;

export type FilesPanelProps = {
  readonly sandbox: string;
  readonly files: Files;
  readonly mayType: boolean;
  /** Types a path at the cursor. */
  readonly onType: (path: string) => void;
  readonly onClose: () => void;
};

export default function FilesPanel({ sandbox, files, mayType, onType, onClose }: FilesPanelProps) {
  const words = useTexts().files;
  const { uploads, downloads } = files;
  const [tree] = useState(() => new FileTree(new FileCalls(sandbox, (path) => downloads.read(path))));
  const state = useSyncExternalStore(tree.subscribe, tree.getState);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    void tree.go(uploads.directory);
    let was = uploads.getState().kind;
    const unsubscribe = uploads.subscribe(() => {
      const upload = uploads.getState();
      // The upload's files are there now.
      if (was === "sending" && upload.kind === "done") void tree.reveal(upload.paths);
      was = upload.kind;
    });
    return () => {
      unsubscribe();
      tree.dispose();
    };
  }, [tree, uploads]);
  const { root = "", shown } = state;
  const open = (row: EntryRow) => void (row.isFolder ? tree.toggle(row.path) : tree.show(row.path));
  const type = (path: string) => {
    onType(path);
    // A phone's terminal is below the panel.
    if (panel.current?.offsetWidth === panel.current?.parentElement?.offsetWidth) onClose();
  };
  const entriesOf = (row: EntryRow): readonly MenuEntry[] => [
    {
      label: row.isFolder ? words.showOnly : words.open,
      icon: row.isFolder ? Folder : File,
      act: () => void (row.isFolder ? tree.go(row.path) : tree.show(row.path)),
    },
    { label: words.download, icon: Download, act: () => downloads.start(row.path) },
    ...(row.isFolder && mayType
      ? [{ label: words.uploadHere, icon: Upload, act: () => uploads.choose(row.path) }]
      : []),
    ...(mayType ? [{ label: words.type, icon: SquareTerminal, act: () => type(row.path) }] : []),
    {
      label: words.copyPath,
      icon: Copy,
      act: () => void navigator.clipboard.writeText(row.path).catch(() => undefined),
    },
  ];
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const { target, currentTarget } = event;
    // A menu's keys come here too, and what has closed it was a key for that alone.
    if (event.key !== "Escape" || event.defaultPrevented || isInDialog(target)) return;
    if (!(target instanceof Node) || !currentTarget.contains(target)) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  return (
    <aside className="sbx-files" aria-label={words.label} ref={panel} onKeyDown={onKey}>
      <div className="sbx-bar">
        <button
          type="button"
          className="sbx-quiet"
          title={words.up}
          aria-label={words.up}
          disabled={root === "/"}
          onClick={() => void tree.go(parentPath(root))}
        >
          <CornerLeftUp size={14} aria-hidden />
        </button>
        <bdi className="sbx-files-root" title={root}>
          {preview(root.slice(root.lastIndexOf("/") + 1) || root)}
        </bdi>
        {mayType ? (
          <button
            type="button"
            className="sbx-quiet"
            title={words.uploadHere}
            aria-label={words.uploadHere}
            onClick={() => uploads.choose(root)}
          >
            <Upload size={14} aria-hidden />
          </button>
        ) : null}
        <button
          type="button"
          className="sbx-quiet"
          title={words.refresh}
          aria-label={words.refresh}
          onClick={() => void tree.refresh()}
        >
          <RefreshCw size={14} aria-hidden />
        </button>
        <button type="button" className="sbx-quiet" title={words.close} aria-label={words.close} onClick={onClose}>
          <X size={14} aria-hidden />
        </button>
      </div>
      <Tree
        rows={rowsOf(state)}
        selected={state.selected}
        onSelect={(path) => tree.select(path)}
        onOpen={open}
        entriesOf={entriesOf}
        onDrop={(transfer, folder) => uploads.drop(transfer, folder)}
        root={root}
      />
      {shown === undefined ? null : (
        <FileReader shown={shown} onDownload={() => downloads.start(shown.path)} onClose={() => tree.hide()} />
      )}
    </aside>
  );
}

const indent = ({ level }: Row): CSSProperties & Record<"--_level", number> => ({ "--_level": level });

type TreeProps = {
  readonly rows: readonly Row[];
  readonly root: string;
  readonly selected: readonly string[];
  readonly onSelect: (path: string) => void;
  readonly onOpen: (row: EntryRow) => void;
  readonly entriesOf: (row: EntryRow) => readonly MenuEntry[];
  readonly onDrop: (transfer: DataTransfer, folder: string) => void;
};

function Tree({ rows, root, selected, onSelect, onOpen, entriesOf, onDrop }: TreeProps) {
  const words = useTexts().files;
  const list = useRef<HTMLDivElement>(null);
  const entries = rows.filter((row) => row.kind === "entry");
  const current = entries.find(({ path }) => selected.includes(path)) ?? entries[0];
  // Who has opened it goes on in it. Its rows come later.
  useEffect(() => list.current?.focus(), []);
  useEffect(() => {
    if (current !== undefined && document.activeElement === list.current)
      list.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
  }, [current]);
  useEffect(() => {
    if (selected.length > 0) list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const move = (row: EntryRow | undefined) => {
    if (row === undefined) return;
    onSelect(row.path);
    list.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(row.path)}"]`)?.focus();
  };
  const onKey = (event: KeyboardEvent) => {
    if (current === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const index = entries.indexOf(current);
    if (event.key === "ArrowDown") move(entries[index + 1]);
    else if (event.key === "ArrowUp") move(entries[index - 1]);
    else if (event.key === "Home") move(entries[0]);
    else if (event.key === "End") move(entries.at(-1));
    else if (event.key === "ArrowRight" && current.isFolder)
      current.isOpen ? move(entries[index + 1]) : onOpen(current);
    else if (event.key === "ArrowLeft")
      current.isOpen ? onOpen(current) : move(entries.find(({ path }) => path === parentPath(current.path)));
    else if (event.key === "Enter" || event.key === " ") onOpen(current);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const allow = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const drop = (event: DragEvent, folder: string) => {
    event.preventDefault();
    event.stopPropagation();
    onDrop(event.dataTransfer, folder);
  };
  return (
    <div
      className="sbx-tree"
      role="tree"
      aria-label={words.label}
      aria-multiselectable
      tabIndex={-1}
      ref={list}
      onDragOver={allow}
      onDrop={(event) => drop(event, root)}
    >
      {rows.map((row) =>
        row.kind === "note" ? (
          <p key={row.path} className="sbx-tree-note" style={indent(row)}>
            {typeof row.note === "object" ? words.failed(row.note.failed) : words[row.note]}
          </p>
        ) : (
          <ContextMenu key={row.path} entries={() => entriesOf(row)} onDone={() => move(row)}>
            <div
              role="treeitem"
              aria-level={row.level}
              aria-expanded={row.isFolder ? row.isOpen : undefined}
              aria-selected={selected.includes(row.path)}
              tabIndex={row === current ? 0 : -1}
              data-path={row.path}
              title={[row.path, ...(row.facts ? [size(row.facts.bytes), row.facts.date] : [])].join(" · ")}
              style={indent(row)}
              onFocus={() => onSelect(row.path)}
              onKeyDown={onKey}
              onClick={() => onOpen(row)}
              onDragOver={allow}
              onDrop={(event) => drop(event, row.isFolder ? row.path : parentPath(row.path))}
            >
              {row.isFolder ? <ChevronRight size={12} aria-hidden className="sbx-tree-turn" /> : <span />}
              {row.isFolder ? <Folder size={14} aria-hidden /> : <File size={14} aria-hidden />}
              <bdi>{preview(row.name)}</bdi>
              {row.facts && <small aria-hidden>{size(row.facts.bytes)}</small>}
            </div>
          </ContextMenu>
        ),
      )}
    </div>
  );
}
