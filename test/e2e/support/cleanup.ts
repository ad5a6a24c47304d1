// After each test: nothing stays connected.
import { afterEach } from "vitest";
import { dropClients } from "./client.ts";

afterEach(dropClients);
