// One client of the npm SDK at work: `node npm_client.mjs JSON`, which prints what it saw as one JSON object.
//
// The JSON has `modules`, the folder of the packages; `package`, `sdk` (the first line of releases, handshake era) or
// `client` (the second, which tries the modern era); `url` or `command` and `args`; `task`, one of those below.

import { pathToFileURL } from "node:url";

const asked = JSON.parse(process.argv[2]);
const modern = asked.package === "client";
const load = (path) => import(pathToFileURL(`${asked.modules}/@modelcontextprotocol/${path}`).href);
const { Client } = await load(modern ? "client/dist/index.mjs" : "sdk/dist/esm/client/index.js");
const elicitation = modern ? "elicitation/create" : (await load("sdk/dist/esm/types.js")).ElicitRequestSchema;

async function transport() {
  if (asked.command) {
    const { StdioClientTransport } = await load(modern ? "client/dist/stdio.mjs" : "sdk/dist/esm/client/stdio.js");
    return new StdioClientTransport({ command: asked.command, args: asked.args, env: process.env, stderr: "inherit" });
  }
  const where = modern ? "client/dist/index.mjs" : "sdk/dist/esm/client/streamableHttp.js";
  const { StreamableHTTPClientTransport } = await load(where);
  return new StreamableHTTPClientTransport(new URL(asked.url));
}

let changed;
const news = new Promise((resolve) => (changed = resolve));
const client = new Client(
  { name: "npm", version: "1" },
  {
    ...(modern ? { versionNegotiation: { mode: "auto" } } : {}),
    ...(asked.task === "offers" ? { capabilities: { elicitation: {} } } : {}),
    listChanged: { tools: { autoRefresh: true, debounceMs: 0, onChanged: (error, tools) => changed({ error, tools }) } },
  },
);
if (asked.task === "offers") {
  const content = { username: "octo", email: "octo@example.com" };
  client.setRequestHandler(elicitation, () => ({ action: "accept", content }));
}
const text = (result) => result.content.filter((part) => part.type === "text").map((part) => part.text).join("\n");
const call = (name, args, options) => client.callTool({ name, arguments: args }, ...(modern ? [] : [undefined]), options);
const names = async () => (await client.listTools()).tools.map((tool) => tool.name);

const tasks = {
  // Searches with the user's words, hears that tools joined, calls one, and reads on in a long result.
  async work() {
    const before = await names();
    const found = await call("find_tools", { query: "clock zones", message: "what time is it in Tokyo?" });
    const { error, tools } = await news;
    const joined = (tools ?? []).map((tool) => tool.name);
    const clock = joined.find((name) => name.endsWith("get_current_time"));
    const now = await call(clock, { timezone: "Asia/Tokyo" });
    const words = Array.from({ length: 2000 }, (_, number) => `w${number}`).join(" ");
    const long = await call("call_mcp_tool", { tool_name: "plain__echo", arguments: { text: words } });
    const page = await call("read_result", { handle: long._meta["octoc/handle"], offset: words.length - 500 });
    const steps = [];
    const wanted = { tool_name: "steps__fault", arguments: {} };
    const done = await call("call_mcp_tool", wanted, { onprogress: (step) => steps.push(step.progress) });
    return {
      version: client.getNegotiatedProtocolVersion?.() ?? null,
      instructions: client.getInstructions(),
      before, joined, steps,
      error: error ? String(error) : null,
      found: text(found),
      now: JSON.parse(text(now)),
      long: text(long),
      page: text(page),
      done: text(done),
    };
  },
  // Lists, searches, calls, reads a resource, fills a prompt and answers a question.
  async offers() {
    return {
      tools: await names(),
      found: text(await call("find_tools", { query: "simple text" })),
      called: text(await call("call_mcp_tool", { tool_name: "test_simple_text", arguments: {} })),
      resources: (await client.listResources()).resources.map((one) => one.uri),
      resource: (await client.readResource({ uri: "test://static-text" })).contents[0].text,
      prompts: (await client.listPrompts()).prompts.map((one) => one.name),
      prompt: (await client.getPrompt({ name: "test_simple_prompt" })).messages[0].content.text,
      answered: text(await call("call_mcp_tool", { tool_name: "test_elicitation", arguments: { message: "Who?" } })),
    };
  },
  // Lists, calls what it has, and asks for what it does not have.
  async scope() {
    const own = await call("plain__echo", { a: 1 });
    const refused = {};
    for (const name of ["plain__fault", "plain/fault", "steps__echo", "find_tools", "call_mcp_tool"]) {
      const args = { tool_name: "plain__fault", query: "fault" };
      const answer = await call(name, args);
      refused[name] = [answer.isError, answer._meta?.["octoc/kind"]];
    }
    return { names: await names(), own: text(own), refused };
  },
};

await client.connect(await transport());
const told = await tasks[asked.task]();
await client.close();
console.log(JSON.stringify(told));
