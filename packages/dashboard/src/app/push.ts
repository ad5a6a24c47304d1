// Push notifications on this device when a program asks for a person: subscribes the browser and registers it. No React.

import { callApi, textOf } from "../connection/api.ts";

const PATH = "/api/push";

async function pushManager(): Promise<PushManager | undefined> {
  return (await navigator.serviceWorker?.getRegistration())?.pushManager;
}

/** Turns notifications on, or off. */
export async function togglePush(): Promise<"on" | "off" | "blocked" | "unsupported"> {
  const manager = await pushManager();
  if (await stopPush()) return "off";
  const key = manager === undefined ? undefined : await callApi("GET", PATH);
  const applicationServerKey = key?.ok ? textOf(key.value, "publicKey") : undefined;
  if (manager === undefined || applicationServerKey === undefined) return "unsupported";
  if ((await Notification.requestPermission()) !== "granted") return "blocked";
  const subscription = await manager.subscribe({ userVisibleOnly: true, applicationServerKey }).catch(() => null);
  return (await register(subscription)) ? "on" : "unsupported";
}

/** Registers an existing subscription again: the server's registrations expire. */
export async function keepPush(): Promise<void> {
  await register((await (await pushManager())?.getSubscription()) ?? null);
}

/** @returns Whether notifications were on. */
export async function stopPush(): Promise<boolean> {
  const subscription = await (await pushManager())?.getSubscription();
  if (!subscription) return false;
  await callApi("DELETE", PATH, { endpoint: subscription.endpoint });
  return subscription.unsubscribe();
}

async function register(subscription: PushSubscription | null): Promise<boolean> {
  if (subscription === null) return false;
  const { endpoint, keys } = subscription.toJSON();
  return (await callApi("PUT", PATH, { endpoint, ...keys })).ok;
}
