import type { FakeChatRequest, FakeMessage } from '../models/chat-request.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Parses the body of `/v1/messages`. Each block of a turn becomes its own message. */
export function readMessagesRequest({ system, messages, tools, tool_choice }: JsonObject): FakeChatRequest {
  const turns = messages as readonly JsonObject[]
  return {
    messages: [
      ...(typeof system === 'string' ? [{ role: 'system', content: system } as const] : []),
      ...turns.flatMap(({ role, content }) => (role === 'assistant' ? [assistantOf(content)] : userOf(content))),
    ],
    tools: ((tools ?? []) as readonly JsonObject[]).map(({ name, description, input_schema }) => {
      return { name: String(name), description: String(description ?? ''), parameters: input_schema as JsonObject }
    }),
    toolChoice: choiceOf((tool_choice ?? {}) as JsonObject),
  }
}

function assistantOf(content: unknown): FakeMessage {
  const blocks = blocksOf(content)
  return {
    role: 'assistant',
    content: blocks.map(({ type, text }) => (type === 'text' ? String(text) : '')).join(''),
    toolCalls: blocks.flatMap(({ type, id, name, input }) =>
      type === 'tool_use' ? [{ id: String(id), name: String(name), argumentsText: JSON.stringify(input) }] : [],
    ),
  }
}

function userOf(content: unknown): FakeMessage[] {
  return blocksOf(content).map(({ type, text, tool_use_id, content: result }) =>
    type === 'tool_result'
      ? { role: 'tool', toolCallId: String(tool_use_id), content: String(result ?? '') }
      : { role: 'user', content: String(text) },
  )
}

function blocksOf(content: unknown): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly JsonObject[])
}

function choiceOf({ type, name }: JsonObject): FakeChatRequest['toolChoice'] {
  if (type === 'tool') return { name: String(name) }
  if (type === 'any') return 'required'
  return type === 'none' ? 'none' : 'auto'
}
