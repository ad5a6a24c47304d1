// A page without React: a terminal on a session, and a form whose text is piped through a command in the same sandbox.
// Address and token come in the fragment, #url=https://HOST&token=TOKEN: no server sees it.
import "@xterm/xterm/css/xterm.css";
import { Terminal } from "@xterm/xterm";
import { connect } from "sandbox-stdio/client";
import { BrowserConnection, StdioAddon } from "sandbox-stdio/xterm";

const { url, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
const sandbox = "dev";

const terminal = new Terminal({ cols: 80, rows: 12 });
terminal.open(document.querySelector("#terminal"));
const connection = new BrowserConnection({
  url: `${url}/attach?sandbox=${sandbox}&shell_integration=0`,
  session: "plain-page",
  token,
  size: () => ({ cols: terminal.cols, rows: terminal.rows }),
});
terminal.loadAddon(new StdioAddon(connection));
connection.subscribe({
  state: ({ phase }) => {
    document.querySelector("#state").value = phase;
  },
});
connection.start();

const form = document.querySelector("#sorting");
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const job = connect(url, { token, sandbox, cmd: "sort" });
  const input = new Blob([form.elements.lines.value]).stream();
  const [sorted] = await Promise.all([new Response(job.stdout).text(), input.pipeTo(job.stdin)]);
  form.elements.sorted.value = sorted;
});
