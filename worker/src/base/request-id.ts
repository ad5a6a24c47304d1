// Which request it was, for lines about it: the platform's own id, which its logs and its support have too, or one that is made.

const RAY = /^[\w-]{1,64}$/;

/** Away from the platform a client may have chosen it: it is for reading only. */
export function requestId(request: Request): string {
  const ray = request.headers.get("CF-Ray") ?? "";
  return RAY.test(ray) ? ray : crypto.randomUUID();
}
