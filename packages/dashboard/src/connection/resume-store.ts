// A tab's memory of its position in a session, so that a reload resumes as the same client. A duplicated tab has a copy and must not use
// it, or the two would disconnect each other forever. A Web Lock tells which was first, and its holder answers when asked, which a tab
// that is being reloaded can't. Input that the session has not acknowledged is kept over one reload.

import type { KeptInput } from "sandbox-stdio/core";

export interface ResumeStore {
  /** The resume token, unless another tab uses it. */
  claim(): Promise<string | undefined>;
  /** Keeps the resume token for the next load of this tab. */
  keep(resume: string): void;
  /** Keeps typed input that was not acknowledged for the next load. */
  keepInput(input: KeptInput | undefined): void;
  /** The kept input of the claimed position, which is then forgotten. Without its bytes if the lock was not free in time. */
  takeInput(): KeptInput | undefined;
  /** The position is given up or no longer exists. */
  forget(): void;
}

/** How long a tab that is being reloaded may take to release its lock, on slow devices, too. */
const LOCK_WAIT_MS = 5_000;
/** Messages on the lock's channel: the question, and the answer of the holder. */
const ASK = "who holds it?";
const HELD = "I hold it";
/** Only the length of longer input is kept: browsers give a page about 5 MB for all panes. */
const MAX_KEPT_BYTES = 512 * 1024;

/**
 * @param key Identifies the session and the person within this origin. @param storage sessionStorage, or undefined if blocked.
 * @param locks undefined without a secure context: duplicated tabs then disconnect each other.
 */
export function tabResumeStore(key: string, storage: Storage | undefined, locks: LockManager | undefined): ResumeStore {
  const name = `sbx.resume.${key}`;
  const inputName = `sbx.input.${key}`;
  let held: string | undefined;
  let release = (): void => undefined;

  async function hold(resume: string): Promise<"ours" | NotLocked> {
    if (resume === held) return "ours";
    release();
    held = resume;
    if (locks === undefined) return "ours";
    const unlock = await lock(locks, `sbx.resume.${resume}`);
    if (typeof unlock === "string") return unlock;
    if (held === resume) release = unlock;
    else unlock();
    return "ours";
  }

  return {
    async claim() {
      const resume = storage?.getItem(name) ?? undefined;
      if (resume === undefined) return undefined;
      const whose = await hold(resume);
      if (whose === "ours") return resume;
      if (held === resume) held = undefined;
      // The tab with the position has the input, too.
      if (whose === "another's") storage?.removeItem(inputName);
      return undefined;
    },
    keep(resume) {
      storage?.setItem(name, resume);
      void hold(resume);
    },
    keepInput(input) {
      if (input === undefined || held === undefined) return;
      const { offset, length, bytes } = input;
      const base64 = bytes === undefined || length > MAX_KEPT_BYTES ? undefined : base64Of(bytes);
      const keep = (record: Omit<InputRecord, "resume">) =>
        storage?.setItem(inputName, JSON.stringify({ resume: held, ...record }));
      try {
        keep({ offset, length, base64 });
      } catch {
        keep({ offset, length }); // What other panes remember has filled the storage.
      }
    },
    takeInput() {
      const text = storage?.getItem(inputName) ?? undefined;
      storage?.removeItem(inputName);
      return text === undefined ? undefined : inputOf(held, text);
    },
    forget() {
      storage?.removeItem(name);
      storage?.removeItem(inputName);
      held = undefined;
      release();
      release = () => undefined;
    },
  };
}

type InputRecord = { resume: string; offset: number | undefined; length: number; base64?: string | undefined };

function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** @returns undefined if it belongs to another position: a duplicated tab starts with copies. */
function inputOf(held: string | undefined, text: string): KeptInput | undefined {
  const { resume, offset, length, base64 } = JSON.parse(text) as InputRecord;
  if (held === undefined) return { offset: undefined, length };
  if (resume !== held) return undefined;
  if (base64 === undefined) return { offset, length };
  return { offset, length, bytes: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
}

/** `late`: a page that gives no answer holds it, perhaps this tab's before a reload. */
type NotLocked = "another's" | "late";

/** @returns Releases the lock. */
function lock(locks: LockManager, name: string): Promise<(() => void) | NotLocked> {
  const channel = new BroadcastChannel(name);
  let isHeld = false;
  return new Promise((resolve) => {
    const giveUp = new AbortController();
    const giveUpAs = (why: NotLocked) => giveUp.abort(why);
    const timer = setTimeout(giveUpAs, LOCK_WAIT_MS, "late");
    channel.onmessage = ({ data }) => {
      if (isHeld && data === ASK) channel.postMessage(HELD);
      else if (!isHeld && data === HELD) giveUpAs("another's");
    };
    const holding = locks.request(name, { signal: giveUp.signal }, () => {
      clearTimeout(timer);
      isHeld = true;
      return new Promise<void>((release) =>
        resolve(() => {
          channel.close();
          release();
        }),
      );
    });
    channel.postMessage(ASK);
    // Given up, or the browser refuses locks: go without.
    holding.catch((error: unknown) => {
      clearTimeout(timer);
      channel.close();
      resolve(error === "late" || error === "another's" ? error : () => undefined);
    });
  });
}

/** sessionStorage, if the browser allows it. */
export function sessionStorageIfAllowed(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    // SecurityError: storage is blocked, and a reload starts as a new client.
    return undefined;
  }
}
