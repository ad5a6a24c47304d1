// Browser notifications, a sound and a flash. If the browser blocks one, nothing happens.

/** Asks for permission unless the browser has an answer. Call from a click. @returns Whether notifications are allowed. */
export async function mayNotify(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  if (Notification.permission !== "default") return Notification.permission === "granted";
  return (await Notification.requestPermission()) === "granted";
}

/** A click focuses the page. @param tag A newer notification with the same tag replaces it. */
export function showNotice(title: string, text: string, tag: string): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const notice = new Notification(title, { body: text, tag });
    notice.onclick = () => {
      window.focus();
      notice.close();
    };
  } catch {
    // TypeError: on phones only service workers may notify.
  }
}

let audio: AudioContext | undefined;

/** A short tone. Browsers mute it until the page was clicked. */
export function playBell(): void {
  audio ??= new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  const { currentTime } = audio;
  tone.frequency.value = 660;
  volume.gain.setValueAtTime(0.08, currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, currentTime + 0.15);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(currentTime + 0.15);
}

/** One flash, no brighter than the text, which is safe for photosensitive people. */
export function flash(element: HTMLElement): void {
  element.animate([{ opacity: 0.4 }, { opacity: 1 }], { duration: 160 });
}
