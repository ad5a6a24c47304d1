// `npm run --silent token`: prints an access token of the local issuer and nothing else. Needs no running issuer, only
// its key.
import { Command, InvalidArgumentError } from "commander";
import { localDir } from "../packages/local/src/paths.ts";
import { currentIssuer } from "../packages/local/src/run-record.ts";
import { type TokenRequest, tokenMinter } from "../packages/local/src/token-minter.ts";
import { CLI_CLIENT_ID, DEFAULT_TOKEN_SCOPE } from "../packages/local/src/tokens.ts";

/** As the command line's own. */
const WRONG_USAGE = 2;

function wholeSeconds(text: string): number {
  if (!/^-?\d{1,10}$/.test(text)) throw new InvalidArgumentError("Not a whole number of seconds.");
  return Number(text);
}

const command = new Command("npm run --silent token --")
  .description("Prints an access token of the local issuer")
  .option("--sub <user>", "the user", "alice")
  .option("--org <organisation>", 'the claim org_id; "" leaves it out', "local")
  .option("--scope <scopes>", 'space separated; "" leaves the claim out', DEFAULT_TOKEN_SCOPE)
  .option("--expires <seconds>", "lifetime; negative: expired that long ago", wholeSeconds, 3600)
  .option("--aud <client>", "the client that the token is for", CLI_CLIENT_ID)
  .option("--issuer <url>", "the claim iss (default: the running local issuer's)")
  .option("--name <name>", "the claim name (default: from --sub)")
  .option("--email <address>", "the claim email (default: from --sub)")
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : WRONG_USAGE));

const flags = command.parse().opts<TokenRequest>();
const dir = localDir();
const mint = await tokenMinter({ keysDir: dir, issuerUrl: currentIssuer(dir) });
process.stdout.write(`${await mint(flags)}\n`);
