// After each test: nothing stays connected.
import { afterEach } from "vitest";
import { dropClients } from "./client.ts";
import { dropForeignClients } from "./foreign-client.ts";
import { dropTtydClients } from "./ttyd-client.ts";

afterEach(() => {
  dropClients();
  dropForeignClients();
  dropTtydClients();
});
