// The variable that concerns webhooks.

export interface WebhookEnv {
  /** `1`: a webhook may lead to this machine, by HTTP. For tests alone. */
  readonly WEBHOOK_LOOPBACK?: string;
}

export function isLoopbackAllowed({ WEBHOOK_LOOPBACK }: WebhookEnv): boolean {
  return WEBHOOK_LOOPBACK === "1";
}
