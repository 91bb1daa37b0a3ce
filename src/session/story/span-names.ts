/**
 * Every name by which OpenTelemetry knows what a story tells. The GenAI
 * conventions (open-telemetry/semantic-conventions-genai) are still in
 * development and rename things: here is the only place to follow them.
 * What they have no name for begins with `reeve.`.
 */
export const OPERATIONS = { session: "invoke_agent", modelCall: "chat", toolCall: "execute_tool" } as const;

export const NAMES = {
  operation: "gen_ai.operation.name",
  agent: "gen_ai.agent.name",
  agentId: "gen_ai.agent.id",
  conversation: "gen_ai.conversation.id",
  requestModel: "gen_ai.request.model",
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedTokens: "gen_ai.usage.cache_read.input_tokens",
  tool: "gen_ai.tool.name",
  toolCall: "gen_ai.tool.call.id",
  toolArguments: "gen_ai.tool.call.arguments",
  toolResult: "gen_ai.tool.call.result",
  errorType: "error.type",
  method: "http.request.method",
  status: "http.response.status_code",
  server: "server.address",
  service: "service.name",
  serviceVersion: "service.version",
  session: "reeve.session.id",
  role: "reeve.role",
  turn: "reeve.turn",
  actor: "reeve.actor",
  what: "reeve.what",
  request: "reeve.model_call.request",
  response: "reeve.model_call.response",
} as const;
