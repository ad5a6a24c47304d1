// Notices, a sound and a flash, as the browser makes them. Each may be forbidden, and then nothing happens.

/** Asks the person, unless the browser has an answer already. To be called from a click. @returns Whether notices may be shown. */
export async function mayNotify(): Promise<boolean> {
  if (!("Notification" in window)) return false;
  if (Notification.permission !== "default") return Notification.permission === "granted";
  return (await Notification.requestPermission()) === "granted";
}

/** A click on the notice leads to the page. @param tag A newer one of the same tag takes its place. */
export function showNotice(title: string, text: string, tag: string): void {
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  try {
    const notice = new Notification(title, { body: text, tag });
    notice.onclick = () => {
      window.focus();
      notice.close();
    };
  } catch {
    // TypeError: browsers on phones let only service workers do it.
  }
}

let audio: AudioContext | undefined;

/** A short tone. Before the page was touched, browsers keep it silent. */
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

/** Gentle enough for people who are hurt by flashes: once, and no brighter than the ink. */
export function flash(element: HTMLElement): void {
  element.animate([{ opacity: 0.4 }, { opacity: 1 }], { duration: 160 });
}
