// Whether this device is called when a program asks for a person: the browser's subscription, which the server is told. No React.

import { callApi, textOf } from "../connection/api.ts";

export type PushOutcome = "on" | "off" | "blocked" | "unsupported";

const PATH = "/api/push";

/** Switches it on, or off again. */
export async function togglePush(): Promise<PushOutcome> {
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration?.pushManager === undefined) return "unsupported";
  if (await stopPush(registration)) return "off";
  const key = await callApi("GET", PATH);
  const publicKey = key.ok ? textOf(key.value, "publicKey") : undefined;
  if (publicKey === undefined) return "unsupported";
  if ((await Notification.requestPermission()) !== "granted") return "blocked";
  const subscribed = await registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: publicKey,
  });
  return (await tell(subscribed)) ? "on" : "unsupported";
}

/** Says it again, since the server forgets a device after a while. */
export async function keepPush(): Promise<void> {
  const registration = await navigator.serviceWorker?.getRegistration();
  const subscription = await registration?.pushManager?.getSubscription();
  if (subscription) await tell(subscription);
}

/** @returns Whether it was on. */
export async function stopPush(registration?: ServiceWorkerRegistration): Promise<boolean> {
  const of = registration ?? (await navigator.serviceWorker?.getRegistration());
  const subscription = await of?.pushManager?.getSubscription();
  if (!subscription) return false;
  await callApi("DELETE", PATH, { endpoint: subscription.endpoint });
  return subscription.unsubscribe();
}

async function tell(subscription: PushSubscription): Promise<boolean> {
  const { endpoint, keys = {} } = subscription.toJSON();
  const { p256dh, auth } = keys;
  return (await callApi("PUT", PATH, { endpoint, p256dh, auth })).ok;
}
