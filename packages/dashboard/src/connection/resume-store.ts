// A tab's memory of its place in a session, so that a reload comes back as the same client. A tab that was
// duplicated starts with a copy of that memory and must not use it: two connections with one proof would throw each
// other out for ever. A Web Lock tells which of the two was first, and the tab that holds it says so when it is asked: a tab
// that is just being reloaded can't. Beside the place, over one reload, stands the input that the session has not acknowledged.

import type { KeptInput } from "sandbox-stdio/core";

export interface ResumeStore {
  /** The proof that this tab may come back with, if it has one and no other tab is using it. */
  claim(): Promise<string | undefined>;
  /** Remembers the proof for the next load of this tab. */
  keep(resume: string): void;
  /** Remembers, for the next load of this tab, what was typed and not acknowledged; undefined: nothing. */
  keepInput(input: KeptInput | undefined): void;
  /** What was remembered at the place that was claimed. It is remembered no longer: whoever takes it has it. */
  takeInput(): KeptInput | undefined;
  /** The place is given up, or gone. */
  forget(): void;
}

/** How long a tab that is just being reloaded may take to let go of its lock, on a slow device as well. */
const LOCK_WAIT_MS = 5_000;
/** What is asked on the lock's channel, and what the tab that holds it answers. */
const ASK = "who holds it?";
const HELD = "I hold it";
/** Longer input is not remembered, but its length is: browsers give a page about 5 MB, of which a pane has a part. */
const MAX_KEPT_BYTES = 512 * 1024;

/**
 * @param key Names the session among those of this origin, for one person.
 * @param storage sessionStorage, or undefined where the browser refuses it.
 * @param locks undefined where the page is in no secure context: duplicated tabs then get in each other's way.
 */
export function tabResumeStore(key: string, storage: Storage | undefined, locks: LockManager | undefined): ResumeStore {
  const name = `sbx.resume.${key}`;
  const inputName = `sbx.input.${key}`;
  let held: string | undefined;
  let release = (): void => undefined;

  async function hold(resume: string): Promise<boolean> {
    if (resume === held) return true;
    release();
    held = resume;
    if (locks === undefined) return true;
    const unlock = await lock(locks, `sbx.resume.${resume}`);
    if (unlock === undefined) held = undefined;
    else if (held === resume) release = unlock;
    else unlock();
    return unlock !== undefined;
  }

  return {
    async claim() {
      const resume = storage?.getItem(name) ?? undefined;
      if (resume !== undefined && (await hold(resume))) return resume;
      // The tab that has the place has the input, too.
      storage?.removeItem(inputName);
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
      return text === undefined || held === undefined ? undefined : inputOf(held, text);
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

/** @returns undefined where it belongs to another place: a tab that was duplicated starts with a copy of everything. */
function inputOf(held: string, text: string): KeptInput | undefined {
  const { resume, offset, length, base64 } = JSON.parse(text) as InputRecord;
  if (resume !== held) return undefined;
  if (base64 === undefined) return { offset, length };
  return { offset, length, bytes: Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) };
}

/** @returns How to let go of it; undefined where another page holds it. */
function lock(locks: LockManager, name: string): Promise<(() => void) | undefined> {
  const channel = new BroadcastChannel(name);
  let isHeld = false;
  return new Promise((resolve) => {
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), LOCK_WAIT_MS);
    channel.onmessage = ({ data }) => {
      if (isHeld && data === ASK) channel.postMessage(HELD);
      else if (!isHeld && data === HELD) giveUp.abort();
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
    // Aborted: another page holds it. Refused by the browser: as if there were no locks.
    holding.catch((error: unknown) => {
      clearTimeout(timer);
      channel.close();
      resolve(isAbort(error) ? undefined : () => undefined);
    });
  });
}

function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** sessionStorage, where the browser lets a page have it. */
export function sessionStorageIfAllowed(): Storage | undefined {
  try {
    return window.sessionStorage;
  } catch {
    // SecurityError: storage is blocked for this site. A reload then starts as a new client.
    return undefined;
  }
}
