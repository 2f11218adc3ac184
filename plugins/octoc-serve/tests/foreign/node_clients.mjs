// One client library of npm at work: `node node_clients.mjs JSON`, which prints what it saw as one JSON object.
//
// The JSON has `modules`, the folder of the packages; `client`, one of those below; `url`, the gateway's address.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const asked = JSON.parse(process.argv[2]);
const require = createRequire(pathToFileURL(`${asked.modules}/`));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const ANSWER = { action: "accept", content: { username: "octo", email: "octo@example.com" } };
const text = (content) => content.map((part) => part.text ?? "").join("\n");

const clients = {
  async "@openai/agents"() {
    const { MCPServerStreamableHttp } = await load("@openai/agents");
    const server = new MCPServerStreamableHttp({ url: asked.url, name: "octoc" });
    await server.connect();
    const call = async (name, args) => text(await server.callTool(name, args));
    const seen = {
      tools: (await server.listTools()).map((tool) => tool.name),
      found: await call("find_tools", { query: "simple text" }),
      called: await call("call_mcp_tool", { tool_name: "test_simple_text", arguments: {} }),
      resources: (await server.listResources()).resources.map((one) => one.uri),
      resource: (await server.readResource("test://static-text")).contents[0].text,
    };
    await server.close();
    return seen;
  },
  async "@ai-sdk/mcp"() {
    const { createMCPClient, ElicitationRequestSchema } = await load("@ai-sdk/mcp");
    const client = await createMCPClient({
      transport: { type: "http", url: asked.url },
      capabilities: { elicitation: {} },
    });
    client.onElicitationRequest(ElicitationRequestSchema, () => ANSWER);
    const call = async (name, args) => text((await client.callTool({ name, arguments: args })).content);
    const seen = {
      tools: Object.keys(await client.tools()),
      found: await call("find_tools", { query: "simple text" }),
      called: await call("call_mcp_tool", { tool_name: "test_simple_text", arguments: {} }),
      resources: (await client.listResources()).resources.map((one) => one.uri),
      resource: (await client.readResource({ uri: "test://static-text" })).contents[0].text,
      prompts: (await client.listPrompts()).prompts.map((one) => one.name),
      prompt: (await client.getPrompt({ name: "test_simple_prompt" })).messages[0].content.text,
      answered: await call("call_mcp_tool", { tool_name: "test_elicitation", arguments: { message: "Who?" } }),
    };
    await client.close();
    return seen;
  },
};

console.log(JSON.stringify(await clients[asked.client]()));
process.exit(0);
