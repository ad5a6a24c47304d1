// A Project Service: says which token's user owns which project, and notes when it was asked.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

export type Question = {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
};

export class ProjectService {
  readonly #server: Server;
  /** User ids by `TOKEN PROJECT`, and by `SUBJECT PROJECT`. */
  readonly #owners = new Map<string, string>();
  readonly questions: Question[] = [];
  /** Milliseconds since 1970, by project. */
  readonly lastConnectionAt = new Map<string, number>();
  /** In place of its own answer. */
  fault: { readonly status: number; readonly body: string } | undefined;

  static async listen(): Promise<ProjectService> {
    const service = new ProjectService();
    await new Promise<void>((resolve) => service.#server.listen(0, "127.0.0.1", resolve));
    return service;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      // A Worker that is stopped may go in the middle of its question.
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  owns(token: string, project: string, user: string): void {
    this.#owners.set(`${token} ${project}`, user);
  }

  /** Whatever token of theirs is shown. */
  ownsAs(subject: string, project: string): void {
    this.#owners.set(`${subject} ${project}`, `user of ${subject}`);
  }

  disowns(token: string, project: string): void {
    this.#owners.delete(`${token} ${project}`);
  }

  /** How often it was asked about a project. */
  askedOf(project: string): number {
    return this.questions.filter(({ body }) => (body as { project_id: string }).project_id === project).length;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Nothing kept open: tests count sockets.
    response.shouldKeepAlive = false;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { token: string; project_id: string };
    const { method, url, headers } = request;
    this.questions.push({ method, url, headers, body });
    if (this.fault !== undefined) {
      response.writeHead(this.fault.status, { "Content-Type": "application/json" }).end(this.fault.body);
      return;
    }
    const user =
      this.#owners.get(`${body.token} ${body.project_id}`) ??
      this.#owners.get(`${subjectOf(body.token)} ${body.project_id}`);
    if (user !== undefined) this.lastConnectionAt.set(body.project_id, Date.now());
    response
      .writeHead(user === undefined ? 401 : 200, { "Content-Type": "application/json" })
      .end(JSON.stringify(user === undefined ? { detail: "Unauthorized" } : { user_id: user }));
  }
}

/** Whose token it says it is. It is not verified: the Worker has done that. */
function subjectOf(token: string): string {
  try {
    const claims = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
    return (JSON.parse(claims) as { sub?: string }).sub ?? "";
  } catch {
    return ""; // Not a JWT.
  }
}
