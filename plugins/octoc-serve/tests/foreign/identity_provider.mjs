// The certified provider `oidc-provider` on the loopback: prints its issuer, and runs until its stdin ends.
// Arguments: the folder of npm modules, the audience of its access tokens, and names of clients. A client's secret is
// its name with `-secret`; its tokens have its name in the claim `org`.
import { generateKeyPairSync } from "node:crypto";
import http from "node:http";
import { pathToFileURL } from "node:url";

const [modules, audience, ...names] = process.argv.slice(2);
const { Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));
const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
const resource = { scope: "mcp", audience, accessTokenFormat: "jwt", accessTokenTTL: 3600, jwt: { sign: { alg: "RS256" } } };

const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...key, kid: "first", alg: "RS256", use: "sig" }] },
    clients: names.map((name) => ({
      client_id: name,
      client_secret: `${name}-secret`,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    })),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: { enabled: true, getResourceServerInfo: async () => resource },
    },
    extraTokenClaims: async (_, token) => ({ org: token.clientId }),
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.resume().on("end", () => process.exit(0));
