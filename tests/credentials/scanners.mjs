// Prints each finding of secretlint's recommended rules in a file as a line of JSON. Arguments: node_modules, the file.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [modules, path] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${modules}/@secretlint/${name}/module/index.js`));
const { lintSource } = await load("core");
const { creator } = await load("secretlint-rule-preset-recommend");
const id = "@secretlint/secretlint-rule-preset-recommend";
const content = await readFile(path, "utf-8");
const result = await lintSource({
  source: { filePath: path, content, contentType: "text", ext: ".json" },
  options: { config: { rules: [{ id, rule: creator, options: {} }] } },
});
for (const found of result.messages) {
  console.log(JSON.stringify({ line: found.loc.start.line, rule: found.ruleId.replace(/.*secretlint-rule-/, "") }));
}
