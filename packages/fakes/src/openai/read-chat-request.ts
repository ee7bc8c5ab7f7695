import type { FakeChatRequest, FakeMessage, FakeToolCall } from '../models/chat-request.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** Parses the body of `/chat/completions`. */
export function readChatRequest({ messages, tools, tool_choice }: JsonObject): FakeChatRequest {
  const declared = (tools ?? []) as readonly { readonly function: JsonObject }[]
  return {
    messages: (messages as readonly JsonObject[]).map(messageOf),
    tools: declared.map(({ function: { name, description, parameters } }) => {
      return { name: String(name), description: textOf(description), parameters: (parameters ?? {}) as JsonObject }
    }),
    toolChoice: choiceOf(tool_choice),
  }
}

function messageOf({ role, content, tool_calls, tool_call_id }: JsonObject): FakeMessage {
  const text = textOf(content)
  if (role === 'tool') return { role, toolCallId: String(tool_call_id), content: text }
  if (role !== 'assistant') return { role: role === 'system' ? role : 'user', content: text }
  const calls = (tool_calls ?? []) as readonly { readonly id: string; readonly function: JsonObject }[]
  const toolCalls = calls.map(({ id, function: { name, arguments: argumentsText } }): FakeToolCall => {
    return { id, name: String(name), argumentsText: String(argumentsText) }
  })
  return { role, content: text, toolCalls }
}

function choiceOf(choice: unknown): FakeChatRequest['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice
  if (typeof choice !== 'object' || choice === null) return 'auto'
  return { name: String((choice as { readonly function: JsonObject }).function.name) }
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : ''
}
