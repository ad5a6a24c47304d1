// Whether this device is called when a program asks for a person: the browser's subscription, which the server is told. No React.

import { callApi, textOf } from "../connection/api.ts";

const PATH = "/api/push";

async function pushManager(): Promise<PushManager | undefined> {
  return (await navigator.serviceWorker?.getRegistration())?.pushManager;
}

/** Switches it on, or off again. */
export async function togglePush(): Promise<"on" | "off" | "blocked" | "unsupported"> {
  const manager = await pushManager();
  if (await stopPush()) return "off";
  const key = manager === undefined ? undefined : await callApi("GET", PATH);
  const applicationServerKey = key?.ok ? textOf(key.value, "publicKey") : undefined;
  if (manager === undefined || applicationServerKey === undefined) return "unsupported";
  if ((await Notification.requestPermission()) !== "granted") return "blocked";
  const subscription = await manager.subscribe({ userVisibleOnly: true, applicationServerKey }).catch(() => null);
  return (await tell(subscription)) ? "on" : "unsupported";
}

/** Says it again, since the server forgets a device after a while. */
export async function keepPush(): Promise<void> {
  await tell((await (await pushManager())?.getSubscription()) ?? null);
}

/** @returns Whether it was on. */
export async function stopPush(): Promise<boolean> {
  const subscription = await (await pushManager())?.getSubscription();
  if (!subscription) return false;
  await callApi("DELETE", PATH, { endpoint: subscription.endpoint });
  return subscription.unsubscribe();
}

async function tell(subscription: PushSubscription | null): Promise<boolean> {
  if (subscription === null) return false;
  const { endpoint, keys } = subscription.toJSON();
  return (await callApi("PUT", PATH, { endpoint, ...keys })).ok;
}
