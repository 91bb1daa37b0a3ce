import { expect, test } from "vitest";
import { healthAddress, servicesIn } from "./found-services.ts";

test("services of this machine are found in what a repository keeps for its agents, each once", () => {
  const found = servicesIn({
    ".mcp.json": JSON.stringify({
      mcpServers: {
        docs: { url: "http://localhost:4001/mcp" },
        far: { url: "https://mcp.example.com" },
        own: { command: "x" },
      },
    }),
    ".gemini/settings.json": JSON.stringify({ mcpServers: { gem: { httpUrl: "http://127.0.0.1:4002/mcp" } } }),
    ".codex/config.toml": `[mcp_servers.kb]\nurl = "http://localhost:4003/mcp"\n[other]\nurl = "http://localhost:9/"\n[mcp_servers."two words"]\nurl = "http://localhost:4001/mcp"\n`,
    ".env": `# local\r\nexport API_URL="http://localhost:4004"\r\nPASSWORD_URL=http://me:secret@localhost:4005\r\nCHROMA_HOST=localhost\r\nCHROMA_PORT=8000\r\n`,
  });
  expect(found).toEqual([
    { name: "docs", url: "http://localhost:4001/mcp" },
    { name: "gem", url: "http://127.0.0.1:4002/mcp" },
    { name: "kb", url: "http://localhost:4003/mcp" },
    { name: "api", url: "http://localhost:4004" },
    { name: "chroma", url: "http://localhost:8000" },
  ]);
});

test.each(["", "{", "[]", "null", '{"mcpServers":[1]}', '{"mcpServers":{"a":{"url":7}}}'])("%j holds none", (text) => {
  expect(servicesIn({ ".mcp.json": text, ".gemini/settings.json": text, ".codex/config.toml": text })).toEqual([]);
});

test("Chroma is asked for its heartbeat, others as they are given", () => {
  expect(healthAddress({ name: "chroma", url: "http://localhost:8000" })).toBe(
    "http://localhost:8000/api/v2/heartbeat",
  );
  expect(healthAddress({ name: "my-chroma", url: "http://localhost:8000/api/v1" })).toBe(
    "http://localhost:8000/api/v2/heartbeat",
  );
  expect(healthAddress({ name: "web", url: "http://localhost:8000/health" })).toBe("http://localhost:8000/health");
});
