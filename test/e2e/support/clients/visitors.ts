// People who come to a system, each from an address of their own: the platform says where a client comes from, and the local one
// believes what the client says.

import type { System } from "../../../../packages/local/src/system/system.ts";
import { fresh, type Person } from "../system/system.ts";
import { type ConnectOptions, connect, type Params, type TestClient } from "./client.ts";

let lastAddress = 0;
export function newAddress(): string {
  lastAddress += 1;
  return `198.51.100.${lastAddress}`;
}

/** A new session that runs `cat`. */
export const cat = (params: Params = {}): Params => ({ session: fresh("s"), cmd: "cat", ...params });

/** To a system whose tenants are organisations (`TENANT_CLAIM=org_id`). */
export class Visitors {
  readonly #system: System;

  constructor(system: System) {
    this.#system = system;
  }

  async person(org = fresh("org")): Promise<Person> {
    const sub = fresh("person");
    return { sub, org, token: await this.#system.mintToken({ sub, org }) };
  }

  from(address: string, options: ConnectOptions = {}): ConnectOptions {
    return {
      ...options,
      server: this.#system.origin.replace(/^http/, "ws"),
      headers: { "CF-Connecting-IP": address, ...options.headers },
    };
  }

  async attached(who: Person, params: Params = cat(), address = newAddress()): Promise<TestClient> {
    const client = await connect(who, params, this.from(address));
    await client.hello();
    return client;
  }
}
