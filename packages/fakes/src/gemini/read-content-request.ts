import type { FakeChatRequest, FakeMessage } from '../models/chat-request.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Parses the body of `:streamGenerateContent`. Each part of a user's content becomes its own message. */
export function readContentRequest({
  systemInstruction,
  contents,
  tools = [],
  toolConfig,
}: JsonObject): FakeChatRequest {
  const declared = (tools as readonly JsonObject[]).flatMap(tool => tool.functionDeclarations as readonly JsonObject[])
  const system = systemInstruction === undefined ? [] : partsOf(systemInstruction as JsonObject)
  return {
    messages: [
      ...system.map(({ text }): FakeMessage => ({ role: 'system', content: String(text) })),
      ...(contents as readonly JsonObject[]).flatMap(content =>
        content.role === 'model' ? [modelMessage(partsOf(content))] : partsOf(content).map(userMessage),
      ),
    ],
    tools: declared.map(({ name, description = '', parametersJsonSchema = {} }) => ({
      name: String(name),
      description: String(description),
      parameters: parametersJsonSchema as JsonObject,
    })),
    toolChoice: choiceOf(((toolConfig ?? {}) as JsonObject).functionCallingConfig as JsonObject | undefined),
  }
}

function partsOf({ parts }: JsonObject): readonly JsonObject[] {
  return parts as readonly JsonObject[]
}

function modelMessage(parts: readonly JsonObject[]): FakeMessage {
  return {
    role: 'assistant',
    content: parts.map(({ text = '' }) => String(text)).join(''),
    toolCalls: parts.flatMap(({ functionCall }) => {
      if (functionCall === undefined) return []
      const { id, name, args } = functionCall as JsonObject
      return [{ id: String(id), name: String(name), argumentsText: JSON.stringify(args ?? {}) }]
    }),
  }
}

function userMessage({ text, functionResponse }: JsonObject): FakeMessage {
  if (functionResponse === undefined) return { role: 'user', content: String(text) }
  const { id, response } = functionResponse as JsonObject
  return { role: 'tool', toolCallId: String(id), content: String((response as JsonObject).result ?? '') }
}

function choiceOf({ mode, allowedFunctionNames }: JsonObject = {}): FakeChatRequest['toolChoice'] {
  if (mode === 'NONE') return 'none'
  if (mode !== 'ANY') return 'auto'
  const [name] = (allowedFunctionNames ?? []) as readonly string[]
  return name === undefined ? 'required' : { name }
}
