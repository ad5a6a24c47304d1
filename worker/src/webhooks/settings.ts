// The variable that concerns webhooks.

export interface WebhookEnv {
  /** For tests: `1` lets attention webhooks lead to this machine, by HTTP too. Default: no. */
  readonly WEBHOOK_LOOPBACK?: string;
}

export function isLoopbackAllowed({ WEBHOOK_LOOPBACK }: WebhookEnv): boolean {
  return WEBHOOK_LOOPBACK === "1";
}
